// Values from other places: MOVED reads where value i comes from; outside of what WITHIN allows it is FILL.
fn value_at(i: i32) -> T {
${COORDINATES}
#if LIMITED
  if (!(${WITHIN})) {
    return T(${FILL});
  }
#endif
  return ${MOVED};
}
