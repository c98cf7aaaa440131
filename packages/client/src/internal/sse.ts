/** Parser of server-sent events. */
import type { Opened } from "./Transport.ts"

/** Yields the data of each event of a response. An event that the end of the response cuts off is dropped. */
export const dataOf = async function*({ next }: Opened): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let rest = ""
  const data: Array<string> = []
  for (let bytes = await next(); bytes !== undefined; bytes = await next()) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines.map((line) => line.replace(/\r$/, ""))) {
      if (line !== "") {
        data.push(...valueOf(line))
      } else if (data.length > 0) {
        yield data.join("\n")
        data.length = 0
      }
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Data of a line. Comments and other fields have none. */
const valueOf = (line: string): ReadonlyArray<string> => {
  const [found, value = ""] = /^data(?:: ?(.*))?$/.exec(line) ?? []
  return found === undefined ? [] : [value]
}
