// Slices of a value along one axis, of SIZE, INNER elements each; CHOSEN of them.
@group(0) @binding(0) var<storage, read> data: array<f32>;
@group(0) @binding(1) var<storage, read> places: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;

@compute @workgroup_size(${THREADS})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let e = id.x + id.y * ${ROW}u;
  if (e >= ${COUNT}u) {
    return;
  }
  let place = u32(places[e / ${INNER}u % ${CHOSEN}u]);
  result[e] = data[(e / ${INNER * CHOSEN}u * ${SIZE}u + place) * ${INNER}u + e % ${INNER}u];
}
