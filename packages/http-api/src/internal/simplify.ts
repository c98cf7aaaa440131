/** Removes what the generator writes in a roundabout way. */

/** Simplifies every schema below `node`. Changes it in place. */
export const simplify = (node: unknown): void => {
  if (typeof node !== "object" || node === null) return
  Object.values(node).forEach(simplify)
  if ("anyOf" in node && Array.isArray(node.anyOf) && node.anyOf.length === 1) unwrap(node, "anyOf", node.anyOf)
  if ("allOf" in node && Array.isArray(node.allOf) && node.allOf.every(isAnnotationOrReference)) {
    unwrap(node, "allOf", node.allOf)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Description and reference stand beside each other in OpenAPI 3.1, so neither needs `allOf`. */
const isAnnotationOrReference = (member: unknown): boolean =>
  typeof member === "object" && member !== null &&
  Object.keys(member).every((key) => key === "description" || key === "$ref")

const unwrap = (node: object, key: "allOf" | "anyOf", members: ReadonlyArray<object>): void => {
  Reflect.deleteProperty(node, key)
  Object.assign(node, ...members)
}
