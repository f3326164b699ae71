// Lanes of SIZE elements: element l of lane (o, i) lies at (o * SIZE + l) * INNER + i. Either each thread has a
// lane of its own, or a workgroup has one (WIDE) and adds what its threads found in a tree.
#if WIDE
var<workgroup> shared_parts: array<f32, ${THREADS}>;
const STEP = ${THREADS}u;
#else
const STEP = 1u;
#endif

#for TREE in 0..3
#if TREE == 0
fn add_up(thread: u32, part: f32) -> f32 {
#elif TREE == 1
fn largest_of(thread: u32, part: f32) -> f32 {
#else
fn product_of(thread: u32, part: f32) -> f32 {
#endif
#if WIDE
  shared_parts[thread] = part;
  for (var half = ${THREADS / 2}u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (thread < half) {
      let other = shared_parts[thread + half];
#if TREE == 0
      shared_parts[thread] += other;
#elif TREE == 1
      shared_parts[thread] = max(shared_parts[thread], other);
#else
      shared_parts[thread] *= other;
#endif
    }
  }
  workgroupBarrier();
  let whole = shared_parts[0];
  workgroupBarrier();
  return whole;
#else
  return part;
#endif
}
#end

fn lane_base(lane: u32) -> u32 {
  return lane / ${INNER}u * ${SIZE * INNER}u + lane % ${INNER}u;
}
