"""Values found by name, by values in another order of the axes, behind a fault, and what is left over."""
import unittest

import numpy as np
import support  # noqa: F401

from driftscope import Recording
from driftscope.axes import arrange, best_fit, orders
from driftscope.matching import find_mapping, plain_name

RANDOM = np.random.default_rng(5)


def values(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def recording(**layers):
    result = Recording("test", "1")
    for name, array in layers.items():
        result.add(name, array)
    return result


def find(layers, reference):
    return find_mapping(layers, reference, list(reference))


def pairs(mapping):
    return {link.layer: (link.value, link.by) for link in mapping.links}


class AxesTest(unittest.TestCase):
    def test_nhwc_and_nchw(self):
        nchw = values(1, 3, 8, 8)
        fit = best_fit(nchw.transpose(0, 2, 3, 1), nchw)
        self.assertEqual(fit.axes, (0, 3, 1, 2))
        self.assertEqual(fit.distance, 0)
        np.testing.assert_array_equal(arrange(nchw.transpose(0, 2, 3, 1), fit.axes, nchw.shape), nchw)

    def test_equal_extents_are_told_apart_by_values(self):
        cube = values(4, 4, 4)
        self.assertEqual(best_fit(cube.transpose(2, 0, 1), cube).axes, (1, 2, 0))

    def test_axes_of_one_come_and_go(self):
        lstm = values(12, 1, 2, 24)  # ONNX: sequence, direction, batch, hidden
        fit = best_fit(lstm[:, 0].transpose(1, 0, 2), lstm)
        np.testing.assert_array_equal(arrange(lstm[:, 0].transpose(1, 0, 2), fit.axes, lstm.shape), lstm)

    def test_flattened_in_the_other_layout(self):
        nchw = values(1, 6, 5, 5)
        flat = nchw.transpose(0, 2, 3, 1).reshape(1, -1)
        fit = best_fit(nchw, flat)
        np.testing.assert_array_equal(arrange(nchw, fit.axes, flat.shape), flat)

    def test_scalars_stay_scalars(self):
        fit = best_fit(np.float32(2), np.float32(2))
        self.assertEqual(arrange(np.float32(2), fit.axes, ()).shape, ())

    def test_other_sizes_do_not_fit(self):
        self.assertIsNone(best_fit(values(3), values(4)))
        self.assertEqual(list(orders((2, 3), (7,))), [])

    def test_other_places_of_nan_are_infinitely_far(self):
        a, b = values(9), values(9)
        a[2] = b[3] = np.nan
        self.assertEqual(best_fit(a, b).distance, np.inf)
        self.assertEqual(best_fit(a, a).distance, 0)

    def test_large_numbers_do_not_overflow(self):
        self.assertLess(best_fit(np.full(5, 1e300), np.full(5, 1e300)).distance, 1e-9)


class MatchingTest(unittest.TestCase):
    def test_by_name_whatever_exporters_add(self):
        self.assertEqual(plain_name("/model/conv/BiasAdd:0"), plain_name("model.conv.BiasAdd"))
        x = values(2, 5)
        self.assertEqual(pairs(find(recording(**{"model/fc:0": x}), {"/model/fc": x})), {"model/fc:0": ("/model/fc", "name")})

    def test_by_values_and_layout(self):
        conv, relu = values(1, 6, 7, 7), values(1, 6, 7, 7)
        found = find(recording(a=conv.transpose(0, 2, 3, 1) * 1.000001, b=relu.transpose(0, 2, 3, 1)),
                     {"conv": conv, "relu": relu})
        self.assertEqual(pairs(found), {"a": ("conv", "values"), "b": ("relu", "values")})
        self.assertEqual(found.links[0].axes, (0, 3, 1, 2))

    def test_name_with_the_values_of_another_is_not_believed_first(self):
        first, second = values(20), values(20)
        found = pairs(find(recording(relu=second, relu_1=first), {"relu": first, "relu_1": second}))
        self.assertEqual(found["relu"][0], "relu_1")

    def test_equal_values_keep_their_order(self):
        x = values(1, 30)
        self.assertEqual(pairs(find(recording(p=x, q=x, r=x), {"one": x, "two": x, "three": x})),
                         {"p": ("one", "values"), "q": ("two", "values"), "r": ("three", "values")})

    def test_behind_a_fault_by_likeness(self):
        conv, after, end = values(1, 4, 6, 6), values(1, 4, 6, 6), values(1, 10)
        wrong = conv.copy()
        wrong[0, 1] += 0.5
        found = pairs(find(recording(c=wrong, a=after, e=end), {"conv": conv, "after": after, "end": end}))
        self.assertEqual(found, {"c": ("conv", "correlation"), "a": ("after", "values"), "e": ("end", "values")})

    def test_behind_a_large_fault_by_place_only_where_nothing_else_could_be_meant(self):
        start, middle, end = values(40), values(25), values(30)
        related = middle + 1.5 * values(25)
        found = find(recording(s=start, m=related, e=end), {"start": start, "middle": middle, "end": end})
        self.assertEqual(pairs(found).get("m"), ("middle", "place"))
        unlike = find(recording(s=start, m=np.zeros(25, np.float32), e=end), {"start": start, "middle": middle, "end": end})
        self.assertNotIn("m", pairs(unlike))

    def test_the_only_value_of_two_elements_is_found_behind_a_fault(self):
        start, end = values(40), values(2)
        found = find(recording(s=start, e=end + np.float32([0, 0.3])), {"start": start, "end": end})
        self.assertEqual(pairs(found).get("e"), ("end", "place"))
        other = find(recording(s=start, e=end + np.float32([0, 0.3])), {"start": start, "end": end, "x": values(2)})
        self.assertNotIn("e", pairs(other))

    def test_same_values_again_do_not_take_a_foreign_place(self):
        """A reshape that the model lacks, between the neighbours of an unrelated value of as many elements."""
        x, other, end = values(12, 32), values(12, 32), values(7)
        found = find(recording(x=x, view=x.reshape(1, 12, 32), e=end), {"x": x, "product": other, "end": end})
        self.assertNotIn("product", {link.value for link in found.links})
        self.assertIn("same values", found.unmapped["view"])
        self.assertEqual(found.missing, ["product"])

    def test_constants_and_few_elements_prove_nothing(self):
        ones = np.ones(12, np.float32)
        found = find(recording(m=ones, s=np.float32(3)), {"a": ones, "b": ones, "c": np.float32(3), "d": np.float32(3)})
        self.assertEqual(found.links, [])
        self.assertIn("do not identify", found.unmapped["m"])

    def test_bools_are_no_integers(self):
        self.assertEqual(find(recording(m=np.array([True, False] * 4)), {"a": np.array([1, 0] * 4)}).links, [])


if __name__ == "__main__":
    unittest.main()
