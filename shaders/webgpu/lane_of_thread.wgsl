#if WIDE
  let lane = group.x + group.y * ${ROW}u;
  let first = thread;
#else
  let lane = id.x + id.y * ${ROW}u;
  let first = 0u;
#endif
  if (lane >= ${LANES}u) {
    return;
  }
