/**
 * Finds `Result`s that nobody reads. A refused command is a `Result` that failed, and dropping it turns the refusal
 * into a success.
 *
 * The rule needs types, which oxlint's plugins do not get, so it asks the compiler.
 */
import {
  type CallExpression,
  type Expression,
  isCallExpression,
  isExpressionStatement,
  isIdentifier,
  isObjectLiteralExpression,
  isPropertyAssignment,
  type Node,
  type SourceFile,
  SyntaxKind
} from "typescript/unstable/ast"
import { API, type Checker, SignatureKind, type Type } from "typescript/unstable/sync"

/** A discarded `Result`. */
export interface Discarded {
  readonly file: string
  /** Counted from 1. */
  readonly line: number
  /** The type of the discarded value. */
  readonly type: string
}

/**
 * Returns every discarded `Result` of the project's own files. Discarded is a `Result`, or an array of `Result`s, that
 *
 * - is the value of an expression statement, `yield*` of an `Effect` included;
 * - is returned by a callback of a call with the option `discard: true`.
 *
 * `void expression` states that a value is not needed, and is not reported.
 */
export const find = (config: string, cwd: string): ReadonlyArray<Discarded> => {
  const api = new API({ cwd })
  try {
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config)
    if (project === undefined) throw new Error(`The compiler found no project ${config}`)
    if (project.rootFiles.length === 0) throw new Error(`The project ${config} has no files`)
    const { checker, program } = project
    const results = new ResultTypes(checker)
    return project.rootFiles.flatMap((file) => {
      const source = program.getSourceFile(file)
      if (source === undefined) throw new Error(`The compiler has no source of ${file}`)
      return inFile(source, checker, results).map(({ node, type }) => ({
        file,
        line: source.text.slice(0, node.getStart(source)).split("\n").length,
        type: checker.typeToString(type)
      }))
    })
  } finally {
    api.close()
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Found {
  readonly node: Node
  readonly type: Type
}

const inFile = (source: SourceFile, checker: Checker, results: ResultTypes): ReadonlyArray<Found> => {
  const statements: Array<Expression> = []
  const callbacks: Array<Expression> = []
  const visit = (node: Node): void => {
    if (isExpressionStatement(node)) statements.push(node.expression)
    if (isCallExpression(node) && discards(node)) callbacks.push(...node.arguments)
    node.forEachChild(visit)
  }
  source.forEachChild(visit)
  const values = typesOf(checker, statements)
  const returned = typesOf(checker, callbacks).flatMap(({ node, type }) =>
    checker.getSignaturesOfType(type, SignatureKind.Call).flatMap((signature) => {
      const value = checker.getReturnTypeOfSignature(signature)
      return value === undefined ? [] : [{ node, type: successOf(checker, value) }]
    })
  )
  return [...values, ...returned].filter(({ type }) => results.includes(type))
}

const typesOf = (checker: Checker, nodes: ReadonlyArray<Expression>): ReadonlyArray<Found> =>
  nodes.length === 0 ? [] : checker.getTypeAtLocation(nodes).flatMap((type, index) => {
    const node = nodes[index]
    return type === undefined || node === undefined ? [] : [{ node, type }]
  })

/** Whether the call has an argument `{ discard: true }`. */
const discards = (call: CallExpression): boolean =>
  call.arguments.some((argument) =>
    isObjectLiteralExpression(argument) &&
    argument.properties.some((property) =>
      isPropertyAssignment(property) && isIdentifier(property.name) && property.name.text === "discard" &&
      property.initializer.kind === SyntaxKind.TrueKeyword
    )
  )

/** The success type of an `Effect`, and any other type itself. */
const successOf = (checker: Checker, type: Type): Type => {
  if (type.getSymbol()?.name !== "Effect" || !type.isTypeReference()) return type
  return checker.getTypeArguments(type)[0] ?? type
}

/** The types that are `Result`s or contain them. */
class ResultTypes {
  readonly #checker: Checker
  readonly #known = new Map<number, boolean>()

  constructor(checker: Checker) {
    this.#checker = checker
  }

  includes(type: Type): boolean {
    const known = this.#known.get(type.id)
    if (known !== undefined) return known
    // A type that contains itself is decided by its other parts.
    this.#known.set(type.id, false)
    const decided = this.#decide(type)
    this.#known.set(type.id, decided)
    return decided
  }

  #decide(type: Type): boolean {
    if (type.isUnionType()) return (type.getTypes() ?? []).some((part) => this.includes(part))
    if (type.isTypeReference() && this.#checker.isArrayLikeType(type)) {
      return this.#checker.getTypeArguments(type).some((part) => this.includes(part))
    }
    const symbol = type.getSymbol()
    return symbol !== undefined && (symbol.name === "Success" || symbol.name === "Failure") &&
      symbol.declarations.some(({ path }) => /\/effect\/(?:dist|src)\/Result\.(?:d\.)?ts$/i.test(path))
  }
}
