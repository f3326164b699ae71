// A graph model from memory: what core/convert/tfjs writes, for tf.loadGraphModel. Client: tensorflow.mjs.

/** The bytes of the files with these names, one after the other. */
function joined(files, names) {
  const parts = names.map((name) => files.find((file) => file.name === name).data);
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes.buffer;
}

/** `files`: [{name, data}], model.json first. */
export function artifactsOf(files) {
  const { weightsManifest, modelTopology, ...rest } = JSON.parse(new TextDecoder().decode(files[0].data));
  return {
    ...rest,
    modelTopology,
    weightSpecs: weightsManifest.flatMap(({ weights }) => weights),
    weightData: joined(
      files,
      weightsManifest.flatMap(({ paths }) => paths),
    ),
  };
}

/** By name of each node of the graph: the last node that was made for the same node of the ONNX graph. */
export function finalNodes({ node: nodes }) {
  const last = new Map();
  const sourceOf = ({ experimentalDebugInfo }) => experimentalDebugInfo?.originalNodeNames?.[0];
  for (const node of nodes) if (sourceOf(node)) last.set(sourceOf(node), node.name);
  return new Map(nodes.map((node) => [node.name, last.get(sourceOf(node)) ?? node.name]));
}
