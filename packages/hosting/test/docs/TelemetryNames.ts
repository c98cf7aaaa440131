/** Spans and metrics that the sources of a package name. Read by a parser, so that no operation is left out. */
import { readdir, readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { parseAst } from "rolldown/parseAst"
import { isNode, nameOf, type Node, nodesIn, textOf } from "./Syntax.ts"

/** A span. */
interface SpanName {
  readonly name: string
  /** Names of its attributes. */
  readonly attributes: ReadonlyArray<string>
}

/** A metric. */
interface MetricName {
  readonly name: string
  readonly type: string
  /** Names of its attributes. */
  readonly attributes: ReadonlyArray<string>
  /** Bounds of the buckets of a histogram. */
  readonly boundaries: ReadonlyArray<number>
}

/** Spans and metrics of a package, sorted by their names, or those of a module. */
export interface Telemetry {
  readonly spans: ReadonlyArray<SpanName>
  readonly metrics: ReadonlyArray<MetricName>
}

/** Reads the sources of a package, such as `ledger`. Rejects if a name is computed in a way that is not known here. */
export const read = async (packageName: string): Promise<Telemetry> => {
  const directory = fileURLToPath(new URL(`../../../${packageName}/src/`, import.meta.url))
  const files = (await readdir(directory, { recursive: true })).filter((file) => file.endsWith(".ts"))
  const sources = await Promise.all(files.map((file) => readFile(`${directory}${file}`, "utf8")))
  const found = sources.map((source, index) => inSource(source, `${packageName}/src/${files[index]}`))
  const spans = new Map<string, Set<string>>()
  for (const { attributes, name } of found.flatMap(({ spans }) => spans)) {
    spans.set(name, new Set([...spans.get(name) ?? [], ...attributes]))
  }
  return {
    spans: Array.from(spans, ([name, attributes]) => ({ name, attributes: [...attributes].toSorted() })).toSorted(
      byName
    ),
    metrics: found.flatMap(({ metrics }) => metrics).toSorted(byName)
  }
}

/** Reads the source of a module, whose path is below `packages`. */
export const inSource = (source: string, file: string): Telemetry => {
  const program = parseAst(source, { lang: "ts" })
  const calls = callsIn(program)
  return { spans: calls.flatMap((call) => spanOf(call, file)), metrics: metricsIn(program, calls) }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const byName = (a: { readonly name: string }, b: { readonly name: string }) => a.name < b.name ? -1 : 1

/** A call `Effect.fn(…)`, or `folded(…)`, whose callee is an identifier. */
interface Call {
  readonly callee: string
  readonly args: ReadonlyArray<Node>
}

const callsIn = (program: unknown): ReadonlyArray<Call> =>
  Array.from(nodesIn(program)).filter(({ type }) => type === "CallExpression").map(({ arguments: args, callee }) => ({
    callee: nameOf(callee),
    args: args as ReadonlyArray<Node>
  }))

/** The properties of an object literal. */
const propertiesOf = (node: unknown): ReadonlyMap<string, unknown> =>
  new Map(
    !isNode(node) || node.type !== "ObjectExpression"
      ? []
      : (node["properties"] as ReadonlyArray<Node>).map(({ key, value }) => [nameOf(key), value])
  )

/** Functions of a package that name the spans of sets by their first parameter. */
const wrappers = new Set(["folded", "fold"])

/** Files in which these functions, or those of `Folding`, make a span whose name is a parameter. */
const wrapperFiles = new Set([
  "ledger/src/internal/setOperations.ts",
  "persistence/src/Folding.ts",
  "scheduler/src/internal/worker/startJob.ts"
])

/** The span that a call makes, if it does. */
const spanOf = ({ args, callee }: Call, file: string): ReadonlyArray<SpanName> => {
  const found = (name: string | undefined, attributes: Iterable<string>): ReadonlyArray<SpanName> => {
    if (name !== undefined) return [{ name, attributes: [...attributes] }]
    if (wrapperFiles.has(file)) return []
    throw new Error(`${file} computes the name of a span of ${callee}`)
  }
  if (/^Folding\.make(?:With|Result)?$/.test(callee)) {
    const options = args.map(propertiesOf).find((properties) => properties.size > 0)
    return found(textOf(options?.get("name")), ["members"])
  }
  if (wrappers.has(callee) && textOf(args[0]) !== undefined) return found(textOf(args[0]), ["members"])
  if (callee === "Effect.fn") return found(textOf(args[0]), [])
  if (callee !== "Effect.withSpan") {
    if (/\b(?:annotateCurrentSpan|annotateSpans|useSpan|makeSpan\w*|withSpanScoped)$/.test(callee)) {
      throw new Error(`${file} calls ${callee}, which this reader does not know`)
    }
    return []
  }
  const index = args.findIndex((node) => textOf(node) !== undefined)
  return found(textOf(args[index]), propertiesOf(propertiesOf(args[index + 1]).get("attributes")).keys())
}

/** The call that makes a metric: the given one, or the one in the function that is given to `MetricPrefix.prefixed`. */
const madeBy = (node: unknown): Node | undefined => {
  if (!isNode(node) || node.type !== "CallExpression") return undefined
  if (nameOf(node["callee"]) !== "MetricPrefix.prefixed") return node
  const [make] = node["arguments"] as ReadonlyArray<Node>
  const body = make?.["body"]
  return isNode(body) ? body : undefined
}

/** The metrics that a file defines as constants, with the attributes of `Metric.withAttributes` in the same file. */
const metricsIn = (program: unknown, calls: ReadonlyArray<Call>): ReadonlyArray<MetricName> => {
  const definitions = Array.from(nodesIn(program)).flatMap(({ id, init, type }) => {
    if (type !== "VariableDeclarator") return []
    const made = madeBy(init)
    const kind = /^Metric\.(counter|gauge|histogram|frequency|summary)$/.exec(nameOf(made?.["callee"]))?.[1]
    if (made === undefined || kind === undefined) return []
    const [name, options] = made["arguments"] as ReadonlyArray<Node>
    // Only the prefix of `MetricPrefix.prefixed` is an expression.
    const isPrefixed = made !== init
    const text = isPrefixed ? textOf(name)?.replace(/^…(?=[^…]+$)/, "kinora_") : textOf(name)
    return [{
      constant: nameOf(id),
      kind,
      name: text?.includes("…") ? undefined : text,
      options: propertiesOf(options)
    }]
  })
  const made = calls.filter(({ callee }) =>
    /^Metric\.(?:counter|gauge|histogram|frequency|summary|timer)$/.test(callee)
  )
  if (made.length !== definitions.length) throw new Error("A metric is not a constant, which this reader does not know")
  return definitions.map(({ constant, kind, name, options }) => {
    if (name === undefined) throw new Error("The name of a metric is computed")
    const bounds = options.get("boundaries")
    return {
      name,
      type: kind,
      attributes: [
        ...propertiesOf(options.get("attributes")).keys(),
        ...calls.filter(({ args, callee }) => callee === "Metric.withAttributes" && nameOf(args[0]) === constant)
          .flatMap(({ args }) => [...propertiesOf(args[1]).keys()])
      ].toSorted(),
      boundaries: isNode(bounds)
        ? (bounds["elements"] as ReadonlyArray<Node>).map(({ value }) => Number(value))
        : []
    }
  })
}
