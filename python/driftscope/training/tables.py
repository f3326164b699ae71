"""The document of a study as tables for people. Client: the command."""
import statistics

from ..tables import Table


def _spread(values, form):
    values = [value for value in values if value is not None]
    if not values:
        return "–"
    if len(values) == 1:
        return form(values[0])
    return f"{form(statistics.mean(values))} ({form(min(values))} to {form(max(values))})"


def curves(model):
    rows = []
    for framework in dict.fromkeys(run["framework"] for run in model["runs"]):
        runs = [run for run in model["runs"] if run["framework"] == framework]
        last = [run["epochs"][-1] for run in runs]
        rows.append({"framework": framework, "repetitions": len(runs),
                     "accuracy": _spread([point["accuracy"] for point in last], "{:.2%}".format),
                     "loss": _spread([point["test_loss"] for point in last], "{:.4f}".format),
                     "seconds": _spread([run["seconds"] for run in runs], "{:.1f}".format)})
    return Table(f"{model['name']} on {model['data']}, {model['epochs']} epochs of batches of {model['batch']}, rate"
                 f" {model['rate']:g}: after the last epoch, mean (least to most)", rows,
                 ("framework", "repetitions", "accuracy", "loss", "seconds"))


def parting(model):
    rows = []
    for pair in dict.fromkeys((entry["left"], entry["right"]) for entry in model["drift"]):
        entries = [entry for entry in model["drift"] if (entry["left"], entry["right"]) == pair]
        places = [f"{entry['parted_layer']} in epoch {entry['parted_epoch']}" for entry in entries if "parted_layer" in entry]
        firsts = [entry["first_different_weight"] for entry in entries if "first_different_weight" in entry]
        last = [entry["points"][-1] for entry in entries]
        rows.append({"frameworks": " – ".join(pair),
                     "after a step": _spread([entry.get("first_difference", 0.0) for entry in entries], "{:.1e}".format),
                     "first weight": ", ".join(dict.fromkeys(firsts)) or "all equal",
                     "outputs at the end": _spread([point["layers"][-1] for point in last], "{:.1e}".format),
                     "parts first": ", ".join(dict.fromkeys(places)) or "never"})
    return Table("Distance between frameworks, of a tensor's norm", rows,
                 ("frameworks", "after a step", "first weight", "outputs at the end", "parts first"))


def steps(model):
    rows = []
    for entry in model["steps"]:
        used = [row["budget_used"] for row in entry["tensors"] if "budget_used" in row]
        rows.append({"framework": entry["framework"], "repetition": entry["repetition"] + 1, "step": entry["step"],
                     "tensors": len(entry["tensors"]), "most of its budget": max(used) if used else None,
                     "verdict": entry["verdict"], "first fault": entry.get("first_fault", "")})
    return Table("Is one step rounding? Values, gradients and new weights, judged by verify", rows,
                 ("framework", "repetition", "step", "tensors", "most of its budget", "verdict", "first fault"),
                 verdict_column="verdict")
