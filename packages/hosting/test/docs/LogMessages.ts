/** Levels of the messages that the sources log. Read by a parser, so that a page can name each message with its level. */
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseAst } from "rolldown/parseAst"
import { nameOf, nodesIn, textOf } from "./Syntax.ts"

/**
 * Reads the sources of all packages and hosts, and returns a function from a message to its level. `…` in a message stands for
 * any text. The function throws if no source logs the message, or if they log it at several levels.
 */
export const read = async (): Promise<(message: string) => string> => {
  const files = (await Promise.all(["packages", "hosts"].map(sourcesBelow))).flat()
  const sources = await Promise.all(files.map((file) => readFile(file, "utf8")))
  const logged = sources.filter((source) => Object.keys(levels).some((callee) => source.includes(`${callee}(`)))
    .flatMap(messagesIn)
  return (message) => {
    const [beginning = "", ...others] = message.split("…")
    const same = logged.filter(({ text }) => text === message)
    const similar = logged.filter(({ text }) =>
      others.length > 0 && text.startsWith(beginning) && others.every((part) => text.includes(part))
    )
    const [level, ...further] = new Set((same.length > 0 ? same : similar).map(({ level }) => level))
    if (level === undefined) throw new Error(`No source logs "${message}"`)
    if (further.length > 0) throw new Error(`The sources log "${message}" at several levels`)
    return level
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Levels by the functions that log: those of Effect, and functions of packages that get the message as a parameter. */
const levels: Readonly<Record<string, string>> = {
  "Effect.logError": "ERROR",
  "Effect.logWarning": "WARN",
  "logError": "ERROR",
  "logFailure": "ERROR"
}

const root = fileURLToPath(new URL("../../../../", import.meta.url))

const sourcesBelow = async (parent: string): Promise<ReadonlyArray<string>> => {
  const folders = await readdir(join(root, parent))
  const files = await Promise.all(folders.map(async (folder) => {
    const directory = join(root, parent, folder, "src")
    return (await readdir(directory, { recursive: true })).filter((file) => file.endsWith(".ts")).map((file) =>
      join(directory, file)
    )
  }))
  return files.flat()
}

/** The first text among the arguments of each call, also below a condition. */
const messagesIn = (source: string) =>
  Array.from(nodesIn(parseAst(source, { lang: "ts" }))).flatMap(({ arguments: args, callee, type }) => {
    const level = type === "CallExpression" ? levels[nameOf(callee)] : undefined
    const text = level === undefined
      ? undefined
      : Array.from(nodesIn(args)).map(textOf).find((text) => text !== undefined)
    return level === undefined || text === undefined ? [] : [{ level, text }]
  })
