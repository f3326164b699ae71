// One value of a recurrent cell, for each unit of each sequence of one step: sums over the state, and what CELL makes
// of them. Everything is padded to UNITS, a multiple of four. Inputs: the products of x with the biases, a row for
// each step and sequence; the weights, four of the depth for each sum, unit by unit; the number of the step; states;
// other values; constants of each unit.
#include "functions.wgsl"

fn limited(x: f32) -> f32 {
  return ${LIMITED};
}
#for I in 0..ACTIVATIONS
fn activation${I}(x: f32) -> f32 {
  return ${ACTIVATION[I]};
}
#end

fn weight(k4: i32, sum: i32, unit: i32) -> vec4f {
  return in1_texel((k4 * ${SUMS} + sum) * ${UNITS} + unit);
}

fn value_at(e: i32) -> f32 {
  let unit: i32 = e % ${UNITS};
  let sequence: i32 = e / ${UNITS};
  let t: i32 = i32(in2_value(0));
  let x_row: i32 = (${X_ROW}) * ${COLUMNS} + unit;
  let row: i32 = sequence * ${UNITS / 4};
#for I in 0..SUMS
  var s${I}: f32 = 0.0;
#end
  for (var k4: i32 = 0; k4 < ${UNITS / 4}; k4++) {
#for I in 0..STATES
    let h${I}: vec4f = in${3 + I}_texel(row + k4);
#end
    ${ADD}
  }
#for I in 0..GATES
  let p${I}: f32 = in0_value(x_row + ${I * UNITS});
#end
#for I in 0..STATES
  let state${I}: f32 = in${3 + I}_element(e);
#end
#for I in 0..EXTRAS
  let extra${I}: f32 = in${3 + STATES + I}_value(e);
#end
#for I in 0..CONSTANT_ROWS
  let constant${I}: f32 = in${3 + STATES + EXTRAS}_value(${I * UNITS} + unit);
#end
  var a: f32 = 0.0;
  var b: f32 = 0.0;
  var value: f32 = 0.0;
  ${CELL}
  return value;
}
