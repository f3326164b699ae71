#!/usr/bin/env python3
"""layers.py on small trees of its own: each rule is broken once."""
import pathlib
import tempfile
import unittest

import layers

SOUND = {
    "core/layers.txt": "# lowest first\nbase hot\neval hot\n",
    "core/base/sum.hpp": "#pragma once\n",
    "core/base/sum.cpp": '#include "core/base/sum.hpp"\n',
    "core/eval/run.cpp": '#include "core/base/sum.hpp"\n#include "xnnpack/config.h"\n',
    "native/layers.txt": "os layer\nhttp layer\n",
    "native/os/files.hpp": "",
    "native/http/serve.cpp": '#include "native/os/files.hpp"\n#include "core/base/sum.hpp"\n',
    "native/CMakeLists.txt": 'file(GLOB_RECURSE s "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")\n',
    "cmake/core.cmake": 'set(patterns "${CMAKE_SOURCE_DIR}/core/\\\\1/*.cpp")\n',
    "web/layers.txt": "shared site\nworker site\npage site\n",
    "web/shared/errors.mjs": "export class RunError {}\n",
    "web/worker/worker.mjs": 'import { RunError } from "../shared/errors.mjs";\n',
    "web/page/page.mjs": 'new Worker(new URL("../worker/worker.mjs", import.meta.url));\n',
    "web/page/icon.svg": "<svg/>",
    "index.html": '<link href="web/page/icon.svg"><script src="web/page/page.mjs"></script>',
}


def found(**changes):
    """What layers.py finds in SOUND with these files ("core__base__sum.hpp") changed or added."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in (SOUND | {key.replace("__", "/"): text for key, text in changes.items()}).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return list(layers.findings(root))


class Layers(unittest.TestCase):
    def assert_found(self, text, **changes):
        lines = found(**changes)
        self.assertTrue(any(text in line for line in lines), lines)

    def test_a_sound_tree_has_no_findings(self):
        self.assertEqual(found(), [])

    def test_an_include_that_goes_up(self):
        self.assert_found("core/base/sum.cpp:1: base/ uses core/eval/run.hpp, a later layer", **{
            "core/eval/run.hpp": "", "core/base/sum.cpp": '#include "core/eval/run.hpp"\n'})
        self.assert_found("os/ uses native/http/serve.hpp, a later layer", **{
            "native/http/serve.hpp": "", "native/os/a.cpp": '#include "native/http/serve.hpp"\n'})

    def test_an_import_that_goes_up(self):
        for line in ('import "../page/page.mjs";', 'const m = await import("../page/page.mjs");',
                     'export { a } from "../page/page.mjs";', 'new URL("../page/page.mjs", import.meta.url);'):
            self.assert_found("shared/ uses web/page/page.mjs, a later layer", **{"web/shared/errors.mjs": line})

    def test_c_headers_and_parts_are_looked_at(self):
        for name in ("core/base/a.c", "core/base/a.h", "core/base/a.inc"):
            self.assert_found(f"{name}:1: base/ uses core/eval/run.hpp", **{
                "core/eval/run.hpp": "", name: '#include "core/eval/run.hpp"\n'})

    def test_core_uses_nothing_outside_of_it(self):
        self.assert_found("core/ uses native/os/files.hpp", **{
            "core/base/sum.cpp": '#include "native/os/files.hpp"\n'})

    def test_native_and_web_use_nothing_of_one_another(self):
        self.assert_found("web/ uses native/os/files.hpp", **{
            "web/worker/entry.cpp": '#include "native/os/files.hpp"\n'})

    def test_a_folder_that_is_no_layer(self):
        self.assert_found("native/layers.txt has no layer 'misc'", **{"native/misc/a.cpp": ""})
        self.assert_found("native/main.cpp: lies in no layer", **{"native/main.cpp": ""})

    def test_an_include_that_is_not_there(self):
        self.assert_found("sum.h is not a path", **{"core/eval/run.cpp": '#include "sum.h"\n'})
        self.assert_found("web/shared/gone.mjs is not a path", **{
            "web/worker/worker.mjs": 'import "../shared/gone.mjs";\n'})

    def test_a_platform_branch_in_core(self):
        self.assert_found("core/eval/run.cpp:2: a platform branch", **{
            "core/eval/run.cpp": '#include "core/base/sum.hpp"\n#ifdef __EMSCRIPTEN__\n#endif\n'})
        self.assertEqual(found(**{"native/os/a.cpp": "#ifdef __linux__\n#endif\n"}), [])

    def test_a_source_that_no_target_compiles(self):
        self.assert_found("web/worker/entry.cpp: nothing reaches it", **{"web/worker/entry.cpp": ""})
        self.assertEqual(found(**{"web/worker/entry.cpp": "", "web/CMakeLists.txt":
                                  "add_executable(engine worker/entry.cpp)\n"}), [])

    def test_a_header_that_no_source_includes(self):
        self.assert_found("core/base/old.hpp: nothing reaches it", **{"core/base/old.hpp": ""})
        self.assert_found("core/base/old.hpp: nothing reaches it", **{
            "core/base/old.hpp": "", "tests/unit/old_test.cpp": '#include "core/base/old.hpp"\n'})

    def test_headers_that_only_include_one_another(self):
        self.assert_found("core/base/b.hpp: nothing reaches it", **{
            "core/base/a.hpp": '#include "core/base/b.hpp"\n', "core/base/b.hpp": '#include "core/base/a.hpp"\n'})

    def test_a_module_that_the_page_does_not_use(self):
        self.assert_found("web/shared/old.mjs: nothing reaches it", **{"web/shared/old.mjs": ""})

    def test_an_asset_that_nothing_names(self):
        self.assert_found("web/page/icon.svg: nothing reaches it", **{
            "index.html": '<script src="web/page/page.mjs"></script>'})

    def test_an_exception_needs_a_file_that_is_unreached(self):
        layers.UNREACHED["core/base/sum.hpp"] = "for the test"
        self.addCleanup(layers.UNREACHED.clear)
        self.assert_found("core/base/sum.hpp: is listed as unreached")
        layers.UNREACHED["core/base/sum.hpp"] = "for the test"
        layers.UNREACHED["core/base/old.hpp"] = "for the test"
        self.assertNotIn("core/base/old.hpp: nothing reaches it", found(**{"core/base/old.hpp": ""}))


if __name__ == "__main__":
    unittest.main()
