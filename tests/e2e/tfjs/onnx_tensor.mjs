// Reads an ONNX TensorProto (a .pb of the conformance cases): {dtype, shape, data}.

const dtypes = {
  1: ["float32", Float32Array],
  2: ["uint8", Uint8Array],
  3: ["int8", Int8Array],
  4: ["uint16", Uint16Array],
  5: ["int16", Int16Array],
  6: ["int32", Int32Array],
  7: ["int64", BigInt64Array],
  9: ["bool", Uint8Array],
  11: ["float64", Float64Array],
  12: ["uint32", Uint32Array],
  13: ["uint64", BigUint64Array],
};

class Fields {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }
  varint() {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.bytes[this.at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asIntN(64, value);
    }
  }
  /** Calls field(number, value): a BigInt, a number (32 bits) or bytes. */
  each(field) {
    while (this.at < this.bytes.length) {
      const key = Number(this.varint());
      const number = key >> 3;
      switch (key & 7) {
        case 0:
          field(number, this.varint());
          break;
        case 1:
          field(number, this.bytes.subarray(this.at, (this.at += 8)));
          break;
        case 2: {
          const size = Number(this.varint());
          field(number, this.bytes.subarray(this.at, (this.at += size)));
          break;
        }
        case 5:
          field(number, this.bytes.subarray(this.at, (this.at += 4)));
          break;
        default:
          throw new Error(`wire type ${key & 7}`);
      }
    }
  }
}

/** Null for types that no TensorFlow.js tensor stands for. */
export function readTensor(bytes) {
  const shape = [];
  const numbers = [];
  const floats = [];
  let type = 0;
  let raw = null;
  const varints = (value) => {
    const packed = new Fields(value);
    const all = [];
    while (packed.at < value.length) all.push(packed.varint());
    return all;
  };
  new Fields(bytes).each((number, value) => {
    if (number === 1)
      shape.push(...(typeof value === "bigint" ? [Number(value)] : varints(value).map(Number)));
    else if (number === 2) type = Number(value);
    else if (number === 4) floats.push(...new Float32Array(value.slice().buffer));
    else if (number === 5 || number === 7)
      numbers.push(...(typeof value === "bigint" ? [value] : varints(value)));
    else if (number === 9) raw = value.slice();
  });
  if (!dtypes[type]) return null;
  const [dtype, Array_] = dtypes[type];
  if (raw) return { dtype, shape, data: new Array_(raw.buffer) };
  if (dtype === "float32") return { dtype, shape, data: Float32Array.from(floats) };
  const big = Array_ === BigInt64Array || Array_ === BigUint64Array;
  return { dtype, shape, data: Array_.from(big ? numbers : numbers.map(Number)) };
}
