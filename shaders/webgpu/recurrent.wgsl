// One value of a recurrent cell, for each unit of each sequence of one step: sums over the state, and what CELL makes
// of them. Everything is padded to UNITS, a multiple of four.
alias T = f32;
#include "functions.wgsl"

@group(0) @binding(0) var<storage, read> products: array<f32>;   // of x, with the biases: a row for each step and sequence
@group(0) @binding(1) var<storage, read> weights: array<vec4f>;  // four of the depth, for each sum, unit by unit
@group(0) @binding(2) var<storage, read> number: array<vec4f>;     // its number
#for I in 0..STATES
@group(0) @binding(${3 + I}) var<storage, read> in_state${I}: array<vec4f>;
#end
#for I in 0..EXTRAS
@group(0) @binding(${3 + STATES + I}) var<storage, read> in_extra${I}: array<f32>;
#end
#if CONSTANTS
@group(0) @binding(${3 + STATES + EXTRAS}) var<storage, read> constants: array<f32>;
#endif
@group(0) @binding(${3 + STATES + EXTRAS + CONSTANTS}) var<storage, read_write> result: array<f32>;

fn limited(x: f32) -> f32 {
  return ${LIMITED};
}
#for I in 0..ACTIVATIONS
fn activation${I}(x: f32) -> f32 {
#if I == 0
  return ${ACTIVATION0};
#elif I == 1
  return ${ACTIVATION1};
#else
  return ${ACTIVATION2};
#endif
}
#end

fn weight(k4: u32, sum: u32, unit: u32) -> vec4f {
  return weights[(k4 * ${SUMS}u + sum) * ${UNITS}u + unit];
}

@compute @workgroup_size(${THREADS})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let e = id.x + id.y * ${ROW}u;
  if (e >= ${COUNT}u) {
    return;
  }
  let unit = e % ${UNITS}u;
  let sequence = e / ${UNITS}u;
  let t = u32(number[0].x);
  let x_row = (${X_ROW}) * ${COLUMNS}u + unit;
  let row = sequence * ${UNITS / 4}u;
#for I in 0..SUMS
  var s${I} = 0.0;
#end
  for (var k4 = 0u; k4 < ${UNITS / 4}u; k4++) {
#for I in 0..STATES
    let h${I} = in_state${I}[row + k4];
#end
    ${ADD}
  }
#for I in 0..GATES
  let p${I} = products[x_row + ${I * UNITS}u];
#end
#for I in 0..STATES
  let state${I} = in_state${I}[row + unit / 4u][unit % 4u];
#end
#for I in 0..EXTRAS
  let extra${I} = in_extra${I}[e];
#end
#for I in 0..CONSTANT_ROWS
  let constant${I} = constants[${I * UNITS}u + unit];
#end
  var a = 0.0;
  var b = 0.0;
  var value = 0.0;
  ${CELL}
  result[e] = value;
}
