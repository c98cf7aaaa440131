/** Counts the lines of a program that touch a software that it uses. */
import { parseAst } from "rolldown/parseAst"
import { isNode, nameOf, type Node, nodesIn } from "./Syntax.ts"

/** How programs use a software. */
export interface Software {
  /** Matches the names of its modules. */
  readonly modules?: RegExp
  /** Matches texts that name it, such as SQL that calls its functions. */
  readonly texts?: RegExp
}

/**
 * Returns the numbers of the lines that touch the software, from 1. These are the lines of
 *
 * - imports from it, and texts that name it;
 * - names that such an import declares, and names of variables, parameters, properties and types that hold such a value: by
 *   their type, or because they are the result of a call, a member or an element of one; and names of functions that are
 *   nothing else than such an expression;
 * - calls of these, and calls that pass such a text, with their arguments, except for the bodies of functions.
 */
export const inSource = (source: string, software: Software): ReadonlySet<number> => {
  const nodes = Array.from(nodesIn(parseAst(source, { lang: "ts" })))
  const names = namesOf(nodes, software)
  const texts = new Set(
    nodes.flatMap((node) =>
      node.type === "VariableDeclarator" && isTextOf(node["init"], software) ? boundBy(node["id"]) : []
    )
  )
  const isOwn = (node: Node) => node.type === "Identifier" && (names.has(nameOf(node)) || texts.has(nameOf(node)))
  const passesText = ({ arguments: passed }: Node) =>
    (passed as ReadonlyArray<unknown>).some((value) =>
      isTextOf(value, software) || isNode(value) && value.type === "Identifier" && texts.has(nameOf(value))
    )
  const lineOf = (offset: number) => source.slice(0, offset).split("\n").length
  const lines = new Set<number>()
  const add = ({ end, start }: Node) => {
    for (let line = lineOf(Number(start)); line <= lineOf(Number(end)); line++) lines.add(line)
  }
  for (const node of nodes) {
    if (isImportOf(node, software) || isTextOf(node, software) || isOwn(node)) add(node)
    if (isCall(node) && (names.has(rootOf(node)) || passesText(node))) {
      for (const part of partsOf(node)) lines.add(lineOf(part))
    }
  }
  return lines
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isImportOf = ({ source, type }: Node, { modules }: Software): boolean =>
  type === "ImportDeclaration" && isNode(source) && modules?.test(String(source["value"])) === true

const isTextOf = (node: unknown, { texts }: Software): boolean => {
  if (!isNode(node) || texts === undefined) return false
  if (node.type === "Literal") return texts.test(String(node["value"]))
  return node.type === "TemplateLiteral" &&
    (node["quasis"] as ReadonlyArray<{ readonly value: { readonly raw: string } }>).some(({ value }) =>
      texts.test(value.raw)
    )
}

const isCall = ({ type }: Node): boolean => type === "CallExpression" || type === "NewExpression"

/** The names that hold something of the software, wherever they are declared in the file. */
const namesOf = (nodes: ReadonlyArray<Node>, software: Software): ReadonlySet<string> => {
  const names = new Set<string>()
  for (const node of nodes) {
    if (isImportOf(node, software)) {
      for (const { local } of node["specifiers"] as ReadonlyArray<Node>) names.add(nameOf(local))
    }
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
  if (node.type === "VariableDeclarator") {
    const { init } = node
    const value = isNode(init) && init.type === "ArrowFunctionExpression" ? init["body"] : init
    return names.has(rootOf(value)) ? boundBy(node["id"]) : []
  }
  if (node.type === "TSTypeAliasDeclaration") return isTyped(node["typeAnnotation"]) ? [nameOf(node["id"])] : []
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
