/** A guide in Markdown whose `curl` commands stand above the answers that they get. */

/** A command of the guide, and the answer that is shown below it. */
export interface Step {
  readonly command: string
  readonly answer: Answer
}

/** A response, as much of it as is shown. */
interface Answer {
  /** `HTTP/1.1 201 Created`. */
  readonly statusLine: string
  readonly headers: Readonly<Record<string, string>>
  /** See `parseBody`; `undefined` when no body is shown. */
  readonly body: unknown
}

/** What a command sends. */
export interface Sent {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer> | null
  /** The file that the response's body goes to; `undefined`: the screen. */
  readonly output: string | undefined
}

/** Files of the one who reads the guide, by their names. */
export type Files = Readonly<Record<string, Uint8Array<ArrayBuffer>>>

/** The commands with their answers, in order. A block without an answer sets variables and is left out. */
export const parse = (guide: string): ReadonlyArray<Step> => {
  const blocks = Array.from(guide.matchAll(/^```(sh|http)\n(.*?)^```$/gms), ([, language, text = ""]) => ({
    language,
    text
  }))
  return blocks.flatMap(({ language, text }, index) => {
    const next = blocks[index + 1]
    return language === "sh" && next?.language === "http" ? [{ command: text, answer: parseAnswer(next.text) }] : []
  })
}

/** What a block's `curl` sends, with the variables and files of the one who reads the guide. */
export const toRequest = (block: string, variables: Readonly<Record<string, string>>, files: Files = {}): Sent => {
  const command = block.slice(block.search(/^curl /m)).replaceAll("\\\n", " ")
  const [, ...words] = wordsOf(command, variables)
  const headers: Record<string, string> = {}
  let [url, method, body, output]: [string, string, Sent["body"], string | undefined] = ["", "", null, undefined]
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
    else throw new Error(`The guide uses an option of curl that this test does not know: ${word}`)
  }
  return { url, method: method || (body === null ? "GET" : "POST"), headers, body, output }
}

/** A body as it can be compared: the value of JSON, or the events of a stream, whose data is JSON. */
export const parseBody = (contentType: string | undefined, text: string): unknown => {
  if (contentType !== "text/event-stream") return JSON.parse(text)
  return text.trim().split("\n\n").map((event) => {
    const fields = fieldsOf(event)
    return { ...fields, data: JSON.parse(fields["data"] ?? "") as unknown }
  })
}

/** Text without what differs from run to run: ids, times, sizes, addresses, signatures. */
export const withoutChance = (text: string): string =>
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

/** `actual` with `…` in place of what `shown` leaves out, so that the two can be compared. */
export const asShown = (actual: unknown, shown: unknown): unknown => {
  if (typeof actual === "string") return withoutChance(actual)
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

const parseAnswer = (text: string): Answer => {
  const [head = "", body = ""] = text.split(/\n\n(.*)/s)
  const [statusLine = "", ...lines] = head.trim().split("\n")
  const headers = fieldsOf(lines.join("\n"))
  return { statusLine, headers, body: body.trim() === "" ? undefined : parseBody(headers["content-type"], body) }
}

/** `name: value` in lines. */
const fieldsOf = (text: string): Record<string, string> =>
  Object.fromEntries(text.split("\n").filter((line) => line !== "").map((line) => line.split(/: (.*)/s).slice(0, 2)))

const fileOf = (files: Files, name: string) => {
  const file = files[name.replace(/^@/, "")]
  if (file === undefined) throw new Error(`The guide sends a file that nothing made: ${name}`)
  return file
}

/** The words of a command as a shell takes them: quotes around whole words, variables outside of single ones. */
const wordsOf = (command: string, variables: Readonly<Record<string, string>>): Array<string> => {
  const expand = (text: string) =>
    text.replaceAll(/\$([A-Z]+)/g, (_, name: string) => {
      const value = variables[name]
      if (value === undefined) throw new Error(`The guide uses a variable that nothing sets: ${name}`)
      return value
    })
  return Array.from(
    command.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g),
    ([, double, single, bare]) => single ?? expand(double?.replaceAll("\\\"", "\"") ?? bare ?? "")
  )
}
