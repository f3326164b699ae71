// Files of training curves for the tests of window and page: a training of our own, and a table of two runs.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Two frameworks, two repetitions, five epochs; in the second repetition conv2 parts in epoch 3. */
export function trainingDocument() {
  const layers = ["conv1", "relu1", "pool1", "conv2", "relu2", "flatten", "fc"];
  const weights = ["conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias", "fc.weight", "fc.bias"];
  const epochs = [0, 1, 2, 3, 4, 5];
  const run = (framework, repetition, shift) => ({
    framework,
    repetition,
    seconds: 12.5,
    epochs: epochs.map((epoch) => ({
      epoch,
      loss: epoch === 0 ? null : 2.3 / (epoch + shift),
      test_loss: 2.4 / (epoch + 1 + shift),
      accuracy: 1 - 0.9 / (epoch + 1 + shift),
      tested: 450,
    })),
  });
  const drift = (repetition) => ({
    left: "jax",
    right: "pytorch",
    repetition,
    points: epochs.map((epoch) => ({
      epoch,
      weights: weights.map((_, i) => 1e-8 * 4 ** epoch * (i + 1)),
      layers: layers.map((_, i) =>
        epoch === 0
          ? 0
          : repetition === 1 && epoch >= 3 && i >= 3
            ? 2e-3 * epoch
            : 1e-8 * 5 ** epoch * (i + 1),
      ),
    })),
    first_different_weight: "conv1.weight",
    first_difference: 4e-8,
    ...(repetition === 1 ? { parted_layer: "conv2", parted_epoch: 3 } : {}),
  });
  const step = (framework, verdict, fault) => ({
    framework,
    repetition: 0,
    step: 1,
    verdict,
    ...fault,
    tensors: [],
  });
  return {
    format: "driftscope-training-1",
    optimizer: "sgd",
    seed: 1,
    repetitions: 2,
    parted_above: 0.001,
    planted: ["pytorch:frozen:conv2.bias"],
    environments: [],
    models: [
      {
        name: "lenet1",
        data: "digits",
        train_samples: 1347,
        test_samples: 450,
        rate: 0.05,
        batch: 128,
        epochs: 5,
        layers,
        weights,
        runs: [0, 1].flatMap((repetition) => [
          run("jax", repetition, 0.1 * repetition),
          run("pytorch", repetition, 0.3 + 0.2 * repetition),
        ]),
        drift: [drift(0), drift(1)],
        steps: [step("jax", "rounding"), step("pytorch", "fault", { first_fault: "grad/conv2.bias" })],
      },
    ],
    failed: [],
  };
}

/** training.json in a folder, with files beside it that are not read. */
export function writeTraining(folder) {
  mkdirSync(join(folder, "lenet1", "repetition-0"), { recursive: true });
  writeFileSync(join(folder, "training.json"), JSON.stringify(trainingDocument(), null, 1));
  writeFileSync(join(folder, "lenet1", "repetition-0", "result.json"), "{}");
  writeFileSync(join(folder, "setup.json"), "{}");
  return folder;
}

/** A CSV of two runs, adam and sgd, in three repetitions. */
export function writeTable(path) {
  const lines = ["epoch,run,seed,val_loss"];
  for (const [run, by] of [
    ["adam", 3],
    ["sgd", 1],
  ])
    for (let seed = 0; seed < 3; ++seed)
      for (let epoch = 0; epoch < 20; ++epoch)
        lines.push(
          `${epoch},${run},${seed},${(2 / (1 + by * 0.1 * epoch + 0.05 * seed * epoch)).toFixed(4)}`,
        );
  writeFileSync(path, lines.join("\n") + "\n");
  return path;
}
