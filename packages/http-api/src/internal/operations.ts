/** What both OpenAPI documents say of their operations, though the generator cannot know it. */
import type { OpenApi } from "effect/http-api"

/**
 * Leaves out 400 where nothing is sent that could be malformed: an id that is none is
 * answered like an unknown one (D2). Changes the operation in place.
 */
export const dropImpossible = (operation: OpenApi.OpenAPISpecOperation): void => {
  const isFree = operation.parameters.some(({ in: place }) => place !== "path") || operation.requestBody !== undefined
  if (!isFree) delete operation.responses[400]
}

/** A choice between one thing is that thing. Changes the document in place. */
export const simplify = (node: unknown): void => {
  if (typeof node !== "object" || node === null) return
  if ("anyOf" in node && Array.isArray(node.anyOf) && node.anyOf.length === 1) {
    const [only] = node.anyOf
    delete node.anyOf
    Object.assign(node, only)
  }
  Object.values(node).forEach(simplify)
}
