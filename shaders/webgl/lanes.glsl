// Lanes of SIZE elements: element l of lane (o, i) lies at (o * SIZE + l) * INNER + i.
int lane_base(int lane) { return lane / ${INNER} * ${SIZE * INNER} + lane % ${INNER}; }
