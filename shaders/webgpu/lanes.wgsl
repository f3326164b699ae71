// Lanes of SIZE elements: element l of lane (o, i) lies at (o * SIZE + l) * INNER + i. Either each thread has a
// lane of its own, or a workgroup has one (WIDE) and adds what its threads found in a tree.
#if WIDE
var<workgroup> shared_parts: array<f32, ${THREADS}>;

fn add_up(thread: u32, part: f32) -> f32 {
  shared_parts[thread] = part;
  for (var half = ${THREADS / 2}u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (thread < half) {
      shared_parts[thread] += shared_parts[thread + half];
    }
  }
  workgroupBarrier();
  let sum = shared_parts[0];
  workgroupBarrier();
  return sum;
}

fn largest_of(thread: u32, part: f32) -> f32 {
  shared_parts[thread] = part;
  for (var half = ${THREADS / 2}u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (thread < half) {
      shared_parts[thread] = max(shared_parts[thread], shared_parts[thread + half]);
    }
  }
  workgroupBarrier();
  let largest = shared_parts[0];
  workgroupBarrier();
  return largest;
}

fn product_of(thread: u32, part: f32) -> f32 {
  shared_parts[thread] = part;
  for (var half = ${THREADS / 2}u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (thread < half) {
      shared_parts[thread] *= shared_parts[thread + half];
    }
  }
  workgroupBarrier();
  let product = shared_parts[0];
  workgroupBarrier();
  return product;
}
const STEP = ${THREADS}u;
#else
fn add_up(thread: u32, part: f32) -> f32 {
  return part;
}
fn largest_of(thread: u32, part: f32) -> f32 {
  return part;
}
fn product_of(thread: u32, part: f32) -> f32 {
  return part;
}
const STEP = 1u;
#endif

fn lane_base(lane: u32) -> u32 {
  return lane / ${INNER}u * ${SIZE * INNER}u + lane % ${INNER}u;
}
