/** Element types of a trace, by ONNX's names. */
export type DType =
  | "float32"
  | "float64"
  | "float16"
  | "bfloat16"
  | "int64"
  | "int32"
  | "int16"
  | "int8"
  | "uint64"
  | "uint32"
  | "uint16"
  | "uint8"
  | "bool";

/**
 * A tensor as your runtime has it: `shape` or `dims`, `dtype` or `type`. A tensor of onnxruntime-web fits as
 * it is. Without a dtype it follows from the array; an array of numbers is float32. float16 and bfloat16 are
 * a Uint16Array of their bits.
 */
export interface TensorLike {
  readonly shape?: readonly number[];
  readonly dims?: readonly number[];
  readonly dtype?: DType;
  readonly type?: DType | string;
  readonly data: ArrayBufferView | readonly number[];
}

/** Tensors by the names of the ONNX model's values: inputs, outputs, and what lies between, if you have it. */
export type Tensors = Record<string, TensorLike>;

export interface DecodedTrace {
  metadata: Record<string, string>;
  tensors: Record<string, { dtype: DType | string; shape: number[]; data: Uint8Array }>;
}

/** A trace file (safetensors). @throws TypeError when data and shape do not fit. */
export function encodeTrace(tensors: Tensors, metadata?: Record<string, string>): Uint8Array;

/** @throws RangeError when the file is truncated. */
export function decodeTrace(file: Uint8Array): DecodedTrace;
