/** Shows pictures in terminals that can: by the protocols of kitty and iTerm2. */
import { Effect, FileSystem } from "effect"

/** Size of the largest picture that is sent to a terminal. */
const bytesMax = 16 * 1024 * 1024

/** Bytes of base64 in one chunk of the protocol of kitty. */
const chunkSize = 4096

/** Shows a picture below the output, if standard output is a terminal that can show its type. */
export const show = Effect.fnUntraced(function*(file: string, mime: string) {
  const protocol = protocolOf(process.env, mime)
  if (!process.stdout.isTTY || protocol === undefined) return
  const fs = yield* FileSystem.FileSystem
  const { size } = yield* fs.stat(file)
  if (size > bytesMax) return
  const base64 = Buffer.from(yield* fs.readFile(file)).toString("base64")
  process.stdout.write(`${protocol(base64)}\n`)
})

/** Returns the encoder of the terminal's protocol, or `undefined` if it has none for this type. */
export const protocolOf = (
  { KITTY_WINDOW_ID, TERM, TERM_PROGRAM }: Readonly<Record<string, string | undefined>>,
  mime: string
): ((base64: string) => string) | undefined => {
  if (!mime.startsWith("image/")) return undefined
  if (TERM_PROGRAM === "iTerm.app" || TERM_PROGRAM === "WezTerm") return iterm
  const isKitty = KITTY_WINDOW_ID !== undefined || TERM === "xterm-kitty" || TERM_PROGRAM === "ghostty"
  return isKitty && mime === "image/png" ? kitty : undefined
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const iterm = (base64: string) => `\u{1b}]1337;File=inline=1;width=40;preserveAspectRatio=1:${base64}\u{7}`

/** 40 columns wide, in chunks, of which the first one has the options. */
const kitty = (base64: string) => {
  const chunks = base64.match(new RegExp(`.{1,${chunkSize}}`, "g")) ?? []
  return chunks.map((chunk, index) => {
    const options = index === 0 ? "a=T,f=100,c=40," : ""
    return `\u{1b}_G${options}m=${index === chunks.length - 1 ? 0 : 1};${chunk}\u{1b}\\`
  }).join("")
}
