// TensorFlow.js in plain JavaScript.
import { TensorFlowJs } from "../tfjs/tensorflow.mjs";

export class Peer extends TensorFlowJs {
  constructor(folder, packages) {
    super(folder, packages, { name: "cpu", script: "tf-backend-cpu.min.js", language: "JavaScript" });
  }
}
