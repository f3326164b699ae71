// y = x / (BIAS + WEIGHT * sum of x^2 over BEFORE + 1 + AFTER channels)^BETA. Channels lie INNER elements apart.
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(${THREADS})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let e = id.x + id.y * ${ROW}u;
  if (e >= ${COUNT}u) {
    return;
  }
  let c = e / ${INNER}u % ${CHANNELS}u;
  let channel_0 = e - c * ${INNER}u;
  var squares = 0.0;
  for (var k = max(c, ${BEFORE}u) - ${BEFORE}u; k <= min(c + ${AFTER}u, ${CHANNELS - 1}u); k++) {
    let v = x[channel_0 + k * ${INNER}u];
    squares += v * v;
  }
  y[e] = x[e] / pow(${BIAS} + ${WEIGHT} * squares, ${BETA});
}
