// Each element of a resized image (channels last) from at most two rows and two columns. The tables have for each row
// or column of the result: its two sources, and their weights.
@group(0) @binding(0) var<storage, read> in0: array<f32>;
@group(0) @binding(1) var<storage, read> rows: array<vec4f>;
@group(0) @binding(2) var<storage, read> columns: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> result: array<f32>;

@compute @workgroup_size(${THREADS})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let e = id.x + id.y * ${ROW}u;
  if (e >= ${COUNT}u) {
    return;
  }
  let c = e % ${CHANNELS}u;
  let column = columns[e / ${CHANNELS}u % ${OUT_W}u];
  let row = rows[e / ${CHANNELS * OUT_W}u % ${OUT_H}u];
  let image = e / ${CHANNELS * OUT_W * OUT_H}u * ${IN_H}u;
  let y = (vec2u(image) + vec2u(row.xy)) * ${IN_W}u;
  let x = vec2u(column.xy);
  var above = in0[(y.x + x.x) * ${CHANNELS}u + c] * column.z;
#if LINEAR
  above += in0[(y.x + x.y) * ${CHANNELS}u + c] * column.w;
  var below = in0[(y.y + x.x) * ${CHANNELS}u + c] * column.z;
  below += in0[(y.y + x.y) * ${CHANNELS}u + c] * column.w;
  above = above * row.z + below * row.w;
#endif
  result[e] = above;
}
