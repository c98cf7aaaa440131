/** The title of a job in lists. */
import type { Generation } from "../api/types.ts"

/** The prompt of a job above a line that identifies it. The prompt is underlined while a `group` around it is hovered. */
export const JobTitle = ({ line, prompt }: Pick<Generation, "prompt"> & { readonly line: string }) => (
  <>
    <span className="block truncate text-sm font-medium group-hover:underline">{prompt ?? "Without prompt"}</span>
    <span className="block truncate font-mono text-xs text-muted">{line}</span>
  </>
)
