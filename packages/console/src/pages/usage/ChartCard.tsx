/** The chart and the choices that it depends on. */
import { useNavigate, useSearch } from "@tanstack/react-router"
import { Segmented } from "../../components/Segmented.tsx"
import { Bars } from "./Bars.tsx"
import { RangeFields } from "./RangeFields.tsx"
import { type Measure, seriesOf, type Split, type UsageRow } from "./rows.ts"
import { usageSearch } from "./search.ts"

const measures = [
  { value: "jobs", label: "Jobs" },
  { value: "credits", label: "Credits" },
  { value: "failed", label: "Failures" }
] as const
const splits = [
  { value: "model", label: "Model" },
  { value: "plan", label: "Plan" },
  { value: "kind", label: "Kind" },
  { value: "key", label: "Key" }
] as const
const ranges = [
  { value: "7", label: "7 days" },
  { value: "14", label: "14 days" },
  { value: "31", label: "31 days" },
  { value: "own", label: "Custom" }
] as const
const empty: Readonly<Record<Measure, string>> = {
  jobs: "No jobs ended in this range.",
  credits: "No credits were charged in this range.",
  failed: "No jobs failed in this range."
}

/** The chart. Its choices are in the URL. */
export const ChartCard = ({ days, isBusy, rows }: {
  readonly days: ReadonlyArray<string>
  readonly rows: ReadonlyArray<UsageRow>
  readonly isBusy: boolean
}) => {
  const { by = "model", days: length = "14", from, of = "jobs", to } = useSearch({ from: "/usage" })
  const navigate = useNavigate({ from: "/usage" })
  const go = (
    change: { of?: Measure; by?: Split; days?: string; from?: string | undefined; to?: string | undefined }
  ) => {
    void navigate({ replace: true, search: usageSearch({ of, by, days: length, from, to, ...change }) })
  }
  const chooseRange = (value: string) => {
    // A range of its own begins with the days that are shown.
    if (value === "own") go({ from: days[0], to: days.at(-1) })
    else go({ days: value, from: undefined, to: undefined })
  }
  const series = seriesOf(rows, days, of, by)
  const isEmpty = series.every(({ values }) => values.every((value) => value === 0))
  return (
    <section aria-label="Chart" aria-busy={isBusy} className="card">
      <div className="flex flex-wrap items-end justify-between gap-4 border-b border-line px-5 py-4">
        <div className="flex flex-wrap gap-4">
          <Segmented label="Measure" value={of} options={measures} onChange={(of) => go({ of })} />
          <Segmented label="Split by" value={by} options={splits} onChange={(by) => go({ by })} />
        </div>
        <div className="flex flex-wrap items-end gap-4">
          <Segmented
            label="Range"
            value={from === undefined ? length : "own"}
            options={ranges}
            onChange={chooseRange}
          />
          {from !== undefined && to !== undefined && (
            <RangeFields
              key={`${from} ${to}`}
              from={from}
              to={to}
              onChange={(from, to) => go({ from, to })}
            />
          )}
        </div>
      </div>
      <div className="p-5">
        {isEmpty
          ? <p className="grid h-72 place-items-center text-muted">{empty[of]}</p>
          : (
            <Bars
              days={days}
              series={series.filter(({ values }) => values.some((value) => value > 0))}
              unit={of === "failed" ? "failed jobs" : of}
            />
          )}
      </div>
    </section>
  )
}
