/** The syntax trees of sources, as far as tests of the documentation read them. */

/** A node of the syntax tree, of any type. */
export interface Node {
  readonly type: string
  readonly [property: string]: unknown
}

/** Returns whether a value of a tree is a node. */
export const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

/** Returns a node with all nodes below it, or those of a list. */
export const nodesIn = function*(value: unknown): Generator<Node> {
  if (Array.isArray(value)) { for (const item of value) yield* nodesIn(item) }
  if (!isNode(value)) return
  yield value
  for (const child of Object.values(value)) yield* nodesIn(child)
}

/** Returns the name of an identifier, or `Module.member`. Empty for other expressions. */
export const nameOf = (node: unknown): string => {
  if (!isNode(node)) return ""
  if (node.type === "Identifier") return String(node["name"])
  if (node.type !== "MemberExpression") return ""
  return `${nameOf(node["object"])}.${nameOf(node["property"])}`
}

/** Returns the text of a literal. A template has `…` in place of its expressions. `undefined` for other nodes. */
export const textOf = (node: unknown): string | undefined => {
  if (!isNode(node)) return undefined
  if (node.type === "Literal" && typeof node["value"] === "string") return node["value"]
  if (node.type !== "TemplateLiteral") return undefined
  const parts = node["quasis"] as ReadonlyArray<{ readonly value: { readonly cooked: string } }>
  return parts.map(({ value }) => value.cooked).join("…")
}
