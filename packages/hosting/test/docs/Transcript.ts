/** Pages whose shell commands are followed by what they print. */

/** A command, or several in a block, and what is shown below. */
export interface Step {
  readonly command: string
  /** The name of the shell that runs it beside the page's own. */
  readonly shell: string | undefined
  /** JSON documents, the text of a terminal, or nothing. */
  readonly shown: { readonly json: ReadonlyArray<unknown> } | { readonly text: string } | undefined
}

/** Returns the commands of a page in order. */
export const parse = (page: string): ReadonlyArray<Step> => {
  const blocks = Array.from(
    page.matchAll(/^```(\w+) ?(\w*)\n(.*?)^```$/gms),
    ([, language = "", name = "", text = ""]) => ({ language, name, text })
  )
  return blocks.flatMap(({ language, name, text }, index): ReadonlyArray<Step> => {
    if (language === "console") return consoleSteps(text)
    if (language !== "sh") return []
    const next = blocks[index + 1]
    const shown = next?.language === "json" ? { json: documentsOf(next.text) } : undefined
    return [{ command: text.trim(), shell: name === "" ? undefined : name, shown }]
  })
}

/** Splits JSON documents that follow each other. */
export const documentsOf = (text: string): ReadonlyArray<unknown> => {
  const documents: Array<unknown> = []
  let [depth, start, isQuoted] = [0, 0, false]
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]
    if (letter === "\\") at++
    else if (letter === "\"") isQuoted = !isQuoted
    else if (!isQuoted && letter === "{" && depth++ === 0) start = at
    else if (!isQuoted && letter === "}" && --depth === 0) documents.push(JSON.parse(text.slice(start, at + 1)))
  }
  return documents
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Splits a transcript at its prompts. */
const consoleSteps = (text: string): ReadonlyArray<Step> =>
  text.split(/^\$ /m).slice(1).map((part) => {
    const [command = "", output = ""] = part.split(/\n(.*)/s)
    return { command, shell: undefined, shown: { text: output.trimEnd() } }
  })
