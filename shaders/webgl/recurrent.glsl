// One value of a recurrent cell, for each unit of each sequence of one step: sums over the state, and what CELL makes
// of them. Everything is padded to UNITS, a multiple of four. Textures: the products of x with the biases, a row for
// each step and sequence; the weights, four of the depth for each sum, unit by unit; the number of the step; states;
// other values; constants of each unit.
#include "functions.glsl"

float tanh_bounded(float x) { return tanh_bounded(vec4(x)).x; }
float sigmoid(float x) { return sigmoid(vec4(x)).x; }
float softplus(float x) { return softplus(vec4(x)).x; }

float limited(float x) { return ${LIMITED}; }
#for I in 0..ACTIVATIONS
float activation${I}(float x) {
#if I == 0
  return ${ACTIVATION0};
#elif I == 1
  return ${ACTIVATION1};
#else
  return ${ACTIVATION2};
#endif
}
#end

vec4 weight(int k4, int sum, int unit) { return in1_texel((k4 * ${SUMS} + sum) * ${UNITS} + unit); }

float element(int e) {
  int unit = e % ${UNITS};
  int sequence = e / ${UNITS};
  int t = int(in2_texel(0).x);
  int x_row = (${X_ROW}) * ${COLUMNS} + unit;
  int row = sequence * ${UNITS / 4};
#for I in 0..SUMS
  float s${I} = 0.0;
#end
  for (int k4 = 0; k4 < ${UNITS / 4}; k4++) {
#for I in 0..STATES
    vec4 h${I} = in${3 + I}_texel(row + k4);
#end
    ${ADD}
  }
#for I in 0..GATES
  float p${I} = in0_element(x_row + ${I * UNITS});
#end
#for I in 0..STATES
  float state${I} = in${3 + I}_element(e);
#end
#for I in 0..EXTRAS
  float extra${I} = in${3 + STATES + I}_element(e);
#end
#for I in 0..CONSTANT_ROWS
  float constant${I} = in${3 + STATES + EXTRAS}_element(${I * UNITS} + unit);
#end
  float a = 0.0;
  float b = 0.0;
  float value = 0.0;
  ${CELL}
  return value;
}
#include "flat.glsl"
