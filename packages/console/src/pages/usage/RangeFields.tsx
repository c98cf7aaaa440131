/** The days of a range of its own. */
import { useState } from "react"
import { TextField } from "../../components/Field.tsx"
import { useNow } from "../../components/useNow.ts"
import { isoDay } from "../../format/time.ts"
import { problemOf } from "./search.ts"

/** The first and the last UTC day. `onChange` gets ranges that the API accepts. */
export const RangeFields = ({ from, onChange, to }: {
  readonly from: string
  readonly to: string
  readonly onChange: (from: string, to: string) => void
}) => {
  const today = isoDay(useNow(60_000))
  const [range, setRange] = useState({ from, to })
  const problem = problemOf(range.from, range.to)
  const change = (part: Partial<typeof range>) => {
    const next = { ...range, ...part }
    setRange(next)
    if (problemOf(next.from, next.to) === undefined) onChange(next.from, next.to)
  }
  return (
    <>
      <TextField label="First day" type="date" max={today} value={range.from} onChange={(from) => change({ from })} />
      <TextField
        label="Last day"
        type="date"
        max={today}
        value={range.to}
        error={problem}
        onChange={(to) => change({ to })}
      />
    </>
  )
}
