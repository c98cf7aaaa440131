/**
 * Rules of this repository that no ready-made one states. `.oxlintrc.json` has the files to which each applies.
 *
 * The types cover the few nodes that the rules read; oxlint publishes none for plugins.
 */
import { dirname, relative, resolve } from "node:path"
import * as prose from "./prose.ts"

interface Node {
  readonly type: string
  readonly name?: string
  readonly callee?: Node
  readonly object?: Node
  readonly property?: Node
  readonly arguments?: ReadonlyArray<Node>
  readonly source?: { readonly value?: unknown } | null
  readonly expression?: Node
  readonly typeAnnotation?: Node
  readonly value?: unknown
  readonly range: readonly [number, number]
}

interface Position {
  readonly line: number
  readonly column: number
}

interface Comment {
  readonly value: string
  readonly range: readonly [number, number]
}

interface Problem {
  readonly node?: Node
  readonly loc?: { readonly start: Position; readonly end: Position }
  readonly message: string
}

interface Context {
  readonly cwd: string
  readonly filename: string
  readonly sourceCode: {
    readonly getAllComments: () => ReadonlyArray<Comment>
    readonly getLocFromIndex: (offset: number) => Position
  }
  readonly report: (problem: Problem) => void
}

type Visitor = Readonly<Record<string, (node: Node) => void>>

const rule = (create: (context: Context) => Visitor) => ({ create })

/** Calls `check` with every import, re-export and dynamic import of a file. */
const onImport = (check: (specifier: string, node: Node) => void): Visitor => {
  const visit = (node: Node) => {
    if (typeof node.source?.value === "string") check(node.source.value, node)
  }
  return {
    ImportDeclaration: visit,
    ImportExpression: visit,
    ExportNamedDeclaration: visit,
    ExportAllDeclaration: visit
  }
}

/** `packages/<name>`, `hosts/<name>` or `examples/<name>` of a file, or `undefined` outside of them. */
const packageOf = (context: Context, path: string): string | undefined =>
  /^(packages|hosts|examples)\/[^/]+/.exec(relative(context.cwd, path))?.[0]

/** A package is entered by its exports: never by a relative path, never by its inside. */
const packageBorders = rule((context) => {
  const home = packageOf(context, context.filename)
  return onImport((specifier, node) => {
    if (specifier.startsWith(".")) {
      if (home !== undefined && packageOf(context, resolve(dirname(context.filename), specifier)) !== home) {
        context.report({ node, message: `\`${specifier}\` leaves ${home}: import the other package by its name.` })
      }
    } else if (/^@kinora\/[^/]+\/(internal|src|dist|test)(\/|$)/.test(specifier)) {
      context.report({ node, message: `\`${specifier}\` is the inside of a package: use what it exports.` })
    }
  })
})

/** Time comes from Effect's `Clock`, so that a test can move it. */
const noAmbientTime = rule((context) => {
  const message = "Take the time from `Clock` or `DateTime`: a test cannot move this one."
  return {
    NewExpression: (node) => {
      if (node.callee?.name === "Date" && node.arguments?.length === 0) context.report({ node, message })
    },
    CallExpression: (node) => {
      if (node.callee?.name === "Date") context.report({ node, message })
    },
    MemberExpression: (node) => {
      const isClock = node.object?.name === "Date" || node.object?.name === "performance"
      if (isClock && node.property?.name === "now") context.report({ node, message })
    }
  }
})

/** A test that is written runs, and it alone does not keep the others from running. */
const everyTestRuns = rule((context) => ({
  MemberExpression: (node) => {
    const isSwitch = ["only", "skip", "todo", "fails", "skipIf", "runIf"].includes(node.property?.name ?? "")
    if (isSwitch && isTestFunction(node.object)) {
      context.report({ node, message: `\`.${node.property?.name}\` keeps tests from running.` })
    }
  }
}))

/** `it`, `it.effect`, `describe`, … */
const isTestFunction = (node: Node | undefined): boolean =>
  node !== undefined &&
  (["it", "test", "describe", "layer", "suite"].includes(node.name ?? "") ||
    (node.type === "MemberExpression" && isTestFunction(node.object)))

/** Two assertions in a row accept any type. */
const noDoubleAssertion = rule((context) => ({
  TSAsExpression: (node) => {
    if (node.expression?.type === "TSAsExpression" && node.expression.typeAnnotation?.type === "TSUnknownKeyword") {
      context.report({ node, message: "`as unknown as` turns the compiler off: decode, or narrow with a guard." })
    }
  }
}))

/** Comments, messages and test names are plain technical English. */
const plainWords = rule((context) => {
  const reportAt = (start: number, problems: ReadonlyArray<prose.ProseProblem>) => {
    for (const { message, offset } of problems) {
      const position = context.sourceCode.getLocFromIndex(start + offset)
      context.report({ loc: { start: position, end: position }, message })
    }
  }
  const checkText = (node: Node) => {
    const text = typeof node.value === "string" ? node.value : cookedOf(node.value)
    if (text !== undefined) reportAt(node.range[0], prose.inMessage(text))
  }
  return {
    Program: () => {
      for (const { range, value } of context.sourceCode.getAllComments()) reportAt(range[0] + 2, prose.inComment(value))
    },
    Literal: checkText,
    TemplateElement: checkText
  }
})

/** The text of a part of a template. */
const cookedOf = (value: unknown): string | undefined =>
  typeof value === "object" && value !== null && "cooked" in value && typeof value.cooked === "string"
    ? value.cooked
    : undefined

export default {
  meta: { name: "kinora" },
  rules: {
    "package-borders": packageBorders,
    "no-ambient-time": noAmbientTime,
    "every-test-runs": everyTestRuns,
    "no-double-assertion": noDoubleAssertion,
    "plain-words": plainWords
  }
}
