/** Counts the lines of a program that touch Kinora. */
import { parseAst } from "rolldown/parseAst"
import { isNode, nameOf, type Node, nodesIn } from "./Syntax.ts"

/**
 * Returns the numbers of the lines that touch Kinora, from 1. These are the lines of
 *
 * - imports from `@kinora`;
 * - names that such an import declares, and names of variables, parameters and properties that hold such a value: by their
 *   type, or because they are the result of a call, a member or an element of one;
 * - calls of these, with their arguments, except for the bodies of functions.
 */
export const inSource = (source: string): ReadonlySet<number> => {
  const program = parseAst(source, { lang: "ts" })
  const nodes = Array.from(nodesIn(program))
  const names = namesOf(nodes)
  const isOwn = (node: Node) => node.type === "Identifier" && names.has(nameOf(node))
  const lineOf = (offset: number) => source.slice(0, offset).split("\n").length
  const lines = new Set<number>()
  const add = ({ end, start }: Node) => {
    for (let line = lineOf(Number(start)); line <= lineOf(Number(end)); line++) lines.add(line)
  }
  for (const node of nodes) {
    if (isImport(node) || isOwn(node)) add(node)
    if (isCall(node) && names.has(rootOf(node))) {
      for (const part of partsOf(node)) lines.add(lineOf(part))
    }
  }
  return lines
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isImport = ({ source, type }: Node): boolean =>
  type === "ImportDeclaration" && isNode(source) && String(source["value"]).startsWith("@kinora/")

const isCall = ({ type }: Node): boolean => type === "CallExpression" || type === "NewExpression"

/** The names that hold something of Kinora, wherever they are declared in the file. */
const namesOf = (nodes: ReadonlyArray<Node>): ReadonlySet<string> => {
  const names = new Set<string>()
  for (const node of nodes) {
    if (isImport(node)) { for (const { local } of node["specifiers"] as ReadonlyArray<Node>) names.add(nameOf(local)) }
  }
  for (let size = 0; size < names.size;) {
    size = names.size
    for (const node of nodes) {
      for (const name of declaredBy(node, names)) names.add(name)
    }
  }
  return names
}

/** The names that a declaration adds. */
const declaredBy = (node: Node, names: ReadonlySet<string>): ReadonlyArray<string> => {
  const isTyped = (type: unknown) => Array.from(nodesIn(type)).some((node) => names.has(nameOf(node)))
  if (node.type === "VariableDeclarator") return names.has(rootOf(node["init"])) ? boundBy(node["id"]) : []
  // A parameter or a variable with a type, and a property of an interface.
  if (node.type === "Identifier" && isTyped(node["typeAnnotation"])) return [nameOf(node)]
  if (node.type === "TSPropertySignature" && isTyped(node["typeAnnotation"])) return [nameOf(node["key"])]
  return []
}

/** The names that a pattern binds. */
const boundBy = (pattern: unknown): ReadonlyArray<string> => {
  if (!isNode(pattern)) return []
  if (pattern.type === "Identifier") return [nameOf(pattern)]
  if (pattern.type === "Property") return boundBy(pattern["value"])
  return [...pattern["properties"] as ReadonlyArray<Node> ?? [], ...pattern["elements"] as ReadonlyArray<Node> ?? []]
    .flatMap(boundBy)
}

/** The name that an expression begins with: `a` of `await a.b(c).d`. */
const rootOf = (node: unknown): string => {
  if (!isNode(node)) return ""
  switch (node.type) {
    case "Identifier":
      return nameOf(node)
    case "MemberExpression":
      return rootOf(node["object"])
    case "CallExpression":
    case "NewExpression":
      return rootOf(node["callee"])
    default:
      // `await`, `yield*`, `as` and the like.
      return rootOf(node["argument"] ?? node["expression"])
  }
}

/** The offsets of the parts of a call, without the bodies of functions. */
const partsOf = function*(node: unknown): Generator<number> {
  if (Array.isArray(node)) { for (const item of node) yield* partsOf(item) }
  if (!isNode(node)) return
  yield Number(node["start"])
  if (node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression") return
  yield Number(node["end"])
  for (const child of Object.values(node)) yield* partsOf(child)
}
