// A run of elements to its place among others: element i of X, which lies at FROM, goes to TO.
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(${THREADS})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x + id.y * ${ROW}u;
  if (i >= ${COUNT}u) {
    return;
  }
  y[${TO}] = x[${FROM}];
}
