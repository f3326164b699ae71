// Whether a document that the program wrote is what its schema says (core/protocol/documents). Strict: a key
// that the schema does not name is an error here, as is one that is missing or has another type.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
let schema;

function readSchema() {
  if (schema) return schema;
  const { status, stdout, stderr } = spawnSync("python3", [join(root, "tools", "documents"), "--json"], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Error(`tools/documents --json: ${stderr}`);
  return (schema = JSON.parse(stdout));
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const scalars = {
  text: (value) => typeof value === "string",
  whole: (value) => Number.isInteger(value),
  number: (value) => typeof value === "number",
  real: (value) => value === null || typeof value === "number",
  flag: (value) => typeof value === "boolean",
  facts: (value) => isObject(value) && Object.values(value).every((fact) => typeof fact !== "object"),
  any: () => true,
};

function checkValue(type, value, where) {
  const { enums, objects } = readSchema();
  const wrong = (expected) => [`${where}: expected ${expected}, got ${JSON.stringify(value)?.slice(0, 60)}`];
  if (type.endsWith("[]"))
    return Array.isArray(value)
      ? value.flatMap((one, i) => checkValue(type.slice(0, -2), one, `${where}[${i}]`))
      : wrong("a list");
  if (type.endsWith("{}"))
    return isObject(value)
      ? Object.entries(value).flatMap(([name, one]) => checkValue(type.slice(0, -2), one, `${where}.${name}`))
      : wrong("an object");
  if (type in scalars) return scalars[type](value) ? [] : wrong(type);
  if (type in enums) return enums[type].includes(value) ? [] : wrong(`one of ${enums[type]}`);
  if (!isObject(value)) return wrong(type);
  return checkFields(objects[type], value, where);
}

function checkField(field, value, where) {
  if (value === undefined) return field.optional ? [] : [`${where} is missing`];
  if (value === null && field.nullable) return [];
  if (field.literal)
    return value === field.literal ? [] : [`${where}: expected ${field.literal}, got ${value}`];
  return checkValue(field.type, value, where);
}

function checkFields({ fields, open }, object, where) {
  const known = new Set(fields.map(({ name }) => name));
  const unknown = open ? [] : Object.keys(object).filter((key) => !known.has(key));
  return [
    ...unknown.map((key) => `${where}.${key} is in no schema`),
    ...fields.flatMap((field) => checkField(field, object[field.name], `${where}.${field.name}`)),
  ];
}

// What is wrong with a document, in sentences; none where it is right. Of a list with each of its documents.
export function faultsOf(document, where = "document") {
  if (Array.isArray(document)) return document.flatMap((one, i) => faultsOf(one, `${where}[${i}]`));
  const name = readSchema().formats[document?.format];
  if (!name) return [`${where}: no schema has the format ${document?.format}`];
  return checkFields(readSchema().objects[name], document, where);
}

// As metadata of a trace: its entries are texts.
export function faultsOfMetadata(metadata) {
  const document = { ...metadata };
  for (const key of ["run", "nodes", "memory"])
    if (key in document) document[key] = JSON.parse(document[key]);
  return faultsOf(document, "__metadata__");
}
