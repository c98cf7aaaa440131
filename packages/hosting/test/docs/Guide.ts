/** Guides in Markdown whose `curl` commands are followed by their responses. */

/** A command of a guide and the response that is shown below it. */
export interface Step {
  readonly command: string
  readonly response: ShownResponse
}

/** The part of a response that a guide shows. */
interface ShownResponse {
  /** `HTTP/1.1 201 Created`. */
  readonly statusLine: string
  readonly headers: Readonly<Record<string, string>>
  /** See `parseBody`; `undefined` when no body is shown. */
  readonly body: unknown
}

/** The request of a command. */
export interface CurlRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer> | null
  /** The file for the response's body. `undefined` prints it. */
  readonly output: string | undefined
}

/** Files of the reader, by name. */
export type Files = Readonly<Record<string, Uint8Array<ArrayBuffer>>>

/** Returns the commands with their responses, in order. Skips blocks without a response, which set variables. */
export const parse = (guide: string): ReadonlyArray<Step> => {
  const blocks = Array.from(guide.matchAll(/^```(sh|http)\n(.*?)^```$/gms), ([, language, text = ""]) => ({
    language,
    text
  }))
  return blocks.flatMap(({ language, text }, index) => {
    const next = blocks[index + 1]
    return language === "sh" && next?.language === "http" ? [{ command: text, response: parseResponse(next.text) }] : []
  })
}

/** Parses the `curl` command of a block, with the reader's variables and files. */
export const toRequest = (
  block: string,
  variables: Readonly<Record<string, string>>,
  files: Files = {}
): CurlRequest => {
  const command = block.slice(block.search(/^curl /m)).replaceAll("\\\n", " ")
  const [, ...words] = wordsOf(command, variables)
  const headers: Record<string, string> = {}
  let [url, method, body, output]: [string, string, CurlRequest["body"], string | undefined] = ["", "", null, undefined]
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (/^-[siN]+$/.test(word)) continue
    if (!word.startsWith("-")) url = word
    else if (word === "-X") method = words.shift() ?? ""
    else if (word === "-d") body = words.shift() ?? ""
    else if (word === "--data-binary") body = fileOf(files, words.shift() ?? "")
    else if (word === "-H") {
      const [name = "", value = ""] = (words.shift() ?? "").split(": ")
      headers[name] = value
    } else if (word === "-o") output = words.shift()
    else if (word === "-D") words.shift()
    else throw new Error(`The guide uses an unsupported option of curl: ${word}`)
  }
  return { url, method: method || (body === null ? "GET" : "POST"), headers, body, output }
}

/** Parses a body for comparison: JSON, or an event stream whose data is JSON. */
export const parseBody = (contentType: string | undefined, text: string): unknown => {
  if (contentType !== "text/event-stream") return JSON.parse(text)
  return text.trim().split("\n\n").map((event) => {
    const fields = fieldsOf(event)
    const { data } = fields
    return data === undefined ? fields : { ...fields, data: JSON.parse(data) as unknown }
  })
}

/** Replaces everything that differs between runs: ids, times, sizes, addresses, signatures. */
export const withoutRandomness = (text: string): string =>
  text
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "<base>")
    .replaceAll(/\b(gen|acct|key|lot|txn|upl|whep|evt|dlv)_[0-9a-z]{26}/g, "<id>")
    .replaceAll(/\bkin_[0-9A-Za-z]{49}/g, "<key>")
    .replaceAll(/\bkin_[0-9A-Za-z]{8}\b/g, "<prefix>")
    .replaceAll(/\bwhsec_[0-9a-z]{52}/g, "<secret>")
    .replaceAll(/\breq_[0-9a-f]{32}/g, "<request>")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<time>")
    .replaceAll(/\b\d{4}-\d\d-\d\d\b/g, "<day>")
    .replaceAll(/exp=\d+&sig=[\w-]{43}/g, "<pair>")
    .replaceAll(/"[0-9a-f]{64}"/g, "<digest>")
    .replaceAll(/max-age=\d+/g, "<age>")
    .replaceAll(/\/\d{5,}$/g, "/<size>")
    .replaceAll(/^\d{5,}$/g, "<size>")

/** Replaces the parts of `actual` that `shown` omits by `…`, so that the two can be compared. */
export const asShown = (actual: unknown, shown: unknown): unknown => {
  if (typeof actual === "string") return withoutRandomness(actual)
  if (typeof actual === "number") return actual > 10_000 ? "<size>" : actual
  if (Array.isArray(actual)) {
    const parts: ReadonlyArray<unknown> = Array.isArray(shown) ? shown : []
    const isCut = parts.at(-1) === "…"
    const kept = isCut ? actual.slice(0, parts.length - 1) : actual
    return [...kept.map((part: unknown, index) => asShown(part, parts[index])), ...isCut ? ["…"] : []]
  }
  if (!isRecord(actual)) return actual
  const fields = isRecord(shown) ? shown : {}
  const isCut = "…" in fields
  const kept = Object.entries(actual).filter(([name]) => !isCut || name in fields)
  return {
    ...Object.fromEntries(kept.map(([name, value]) => [name, asShown(value, fields[name])])),
    ...isCut ? { "…": "…" } : {}
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const parseResponse = (text: string): ShownResponse => {
  const [head = "", body = ""] = text.split(/\n\n(.*)/s)
  const [statusLine = "", ...lines] = head.trim().split("\n")
  const headers = fieldsOf(lines.join("\n"))
  return { statusLine, headers, body: body.trim() === "" ? undefined : parseBody(headers["content-type"], body) }
}

/** Parses lines of the form `name: value`. */
const fieldsOf = (text: string): Record<string, string> =>
  Object.fromEntries(text.split("\n").filter((line) => line !== "").map((line) => line.split(/: (.*)/s).slice(0, 2)))

const fileOf = (files: Files, name: string) => {
  const file = files[name.replace(/^@/, "")]
  if (file === undefined) throw new Error(`The guide sends a file that does not exist: ${name}`)
  return file
}

/** Splits a command into words as a shell does. Supports quotes around whole words, and variables outside of single quotes. */
const wordsOf = (command: string, variables: Readonly<Record<string, string>>): Array<string> => {
  const expand = (text: string) =>
    text.replaceAll(/\$([A-Z]+)/g, (_, name: string) => {
      const value = variables[name]
      if (value === undefined) throw new Error(`The guide uses an unset variable: ${name}`)
      return value
    })
  return Array.from(
    command.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g),
    ([, double, single, bare]) => single ?? expand(double?.replaceAll("\\\"", "\"") ?? bare ?? "")
  )
}
