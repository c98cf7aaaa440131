/** Times. */
import { relative, utc } from "../format/time.ts"
import { useNow } from "./useNow.ts"

/** A time relative to now, with the UTC time on hover. */
export const Time = ({ at }: { readonly at: string }) => {
  const now = useNow(10_000)
  return <time dateTime={at} title={utc(at)} className="whitespace-nowrap">{relative(Date.parse(at), now)}</time>
}

/** A time, or a word in its place. */
export const MaybeTime = ({ at, otherwise = "–" }: { readonly at: string | null; readonly otherwise?: string }) =>
  at === null ? <span className="text-muted">{otherwise}</span> : <Time at={at} />
