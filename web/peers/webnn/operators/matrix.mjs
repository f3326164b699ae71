// Products of matrices.

function gemm(node) {
  const a = node.input(0);
  const options = {
    alpha: node.attribute("alpha", 1),
    beta: node.attribute("beta", 1),
    aTranspose: node.attribute("transA", 0) === 1,
    bTranspose: node.attribute("transB", 0) === 1,
    c: node.input(2),
  };
  return node.make("gemm", { a, b: node.input(1) }, [], options);
}

// A vector is a row on the left, a column on the right, and its axis is left out of the result.
function matmul(node) {
  const [a, b] = node.all();
  const row = a.shape.length === 1 ? node.reshape(a, [1, ...a.shape]) : a;
  const column = b.shape.length === 1 ? node.reshape(b, [...b.shape, 1]) : b;
  const product = node.binary("matmul", row, column);
  return row === a && column === b ? product : node.reshape(product, node.output().shape);
}

export const operators = { Gemm: gemm, MatMul: matmul };
