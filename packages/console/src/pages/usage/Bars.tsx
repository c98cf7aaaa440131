/** Stacked bars per day. */
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from "react"
import { names } from "../../components/names.ts"
import { barPath, ticksOf } from "../../format/chart.ts"
import { count } from "../../format/number.ts"
import type { Series } from "./rows.ts"

const height = 260
const left = 44
const bottom = 24
const top = 8

const color = (index: number) => `var(--color-series-${index % 4 + 1})`
const dayName = (text: string) =>
  new Date(`${text}T00:00:00Z`).toLocaleDateString("en-US", { month: "short", day: "numeric", timeZone: "UTC" })

interface BarsProps {
  readonly days: ReadonlyArray<string>
  readonly series: ReadonlyArray<Series>
  readonly unit: string
}

/** The chart. The arrow keys select a day, whose values are announced. The table of the page has all numbers. */
export const Bars = ({ days, series, unit }: BarsProps) => {
  const { box, width } = useWidth()
  const [chosen, setChosen] = useState<number | null>(null)
  const totals = days.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0))
  const walk = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setChosen((now) => Math.min(days.length - 1, Math.max(0, now === null ? days.length - 1 : now + step)))
    }
    if (event.key === "Escape") setChosen(null)
  }
  return (
    <div>
      <Legend series={series} />
      <div ref={box} className="relative h-[260px]" onMouseLeave={() => setChosen(null)}>
        {width > 0 && (
          <svg
            width={width}
            height={height}
            role="img"
            aria-label={`${unit} per day. The arrow keys select a day. The table below has all numbers.`}
            tabIndex={0}
            onKeyDown={walk}
            onBlur={() => setChosen(null)}
            className="block rounded-sm"
          >
            <Plot {...{ days, series, totals, width, chosen }} onChoose={setChosen} />
          </svg>
        )}
        {chosen !== null && <Tooltip {...{ days, series, totals, width, chosen }} />}
      </div>
    </div>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const useWidth = () => {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0))
    if (box.current !== null) observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  return { box, width }
}

interface PlotProps {
  readonly days: ReadonlyArray<string>
  readonly series: ReadonlyArray<Series>
  readonly totals: ReadonlyArray<number>
  readonly width: number
  readonly chosen: number | null
}

const Legend = ({ series }: { readonly series: ReadonlyArray<Series> }) => (
  <ul className="mb-4 flex flex-wrap gap-x-5 gap-y-1 text-sm text-muted">
    {series.map(({ name }, index) => (
      <li key={name} className="flex items-center gap-2">
        <span className="size-2.5 rounded-[3px]" style={{ background: color(index) }} />
        {name}
      </li>
    ))}
  </ul>
)

const Plot = ({ chosen, days, onChoose, series, totals, width }: PlotProps & {
  readonly onChoose: (day: number) => void
}) => {
  const ticks = ticksOf(Math.max(...totals))
  const max = ticks.at(-1) ?? 1
  const band = (width - left) / days.length
  const y = (value: number) => top + (1 - value / max) * (height - top - bottom)
  const every = Math.ceil(56 / band)
  return (
    <>
      {ticks.map((tick) => (
        <g key={tick}>
          <line x1={left} x2={width} y1={y(tick)} y2={y(tick)} className="stroke-line" />
          <text x={left - 10} y={y(tick)} dy="0.32em" textAnchor="end" className="fill-muted text-xs tabular-nums">
            {count(tick)}
          </text>
        </g>
      ))}
      {days.map((day, index) => (
        <g key={day} onMouseEnter={() => onChoose(index)}>
          <rect
            x={left + index * band}
            y={top}
            width={band}
            height={height - top - bottom}
            className={chosen === index ? "fill-raised" : "fill-transparent"}
          />
          <Stack index={index} series={series} x={left + index * band} band={band} y={y} />
          {(days.length - 1 - index) % every === 0 && (
            <text x={left + (index + 0.5) * band} y={height - 6} textAnchor="middle" className="fill-muted text-xs">
              {dayName(day)}
            </text>
          )}
        </g>
      ))}
    </>
  )
}

/** The bars of one day, from the first series upwards. The uppermost has rounded corners. */
const Stack = ({ band, index, series, x, y }: {
  readonly index: number
  readonly series: ReadonlyArray<Series>
  readonly x: number
  readonly band: number
  readonly y: (value: number) => number
}) => {
  const bar = Math.min(44, Math.max(4, band * 0.62))
  const parts = series.flatMap(({ name, values }, which) => {
    const value = values[index] ?? 0
    const from = series.slice(0, which).reduce((sum, one) => sum + (one.values[index] ?? 0), 0)
    return value === 0 ? [] : [{ name, which, from, to: from + value }]
  })
  return parts.map(({ from, name, to, which }, place) => {
    const isTop = place === parts.length - 1
    const size = Math.max(1, y(from) - y(to) - (isTop ? 0 : 1))
    const d = barPath(x + (band - bar) / 2, y(from) - size, bar, size, isTop ? Math.min(4, size) : 0)
    return <path key={name} d={d} style={{ fill: color(which) }} />
  })
}

const Tooltip = ({ chosen, days, series, totals, width }: PlotProps) => {
  const day = chosen ?? 0
  const isRight = day > days.length / 2
  return (
    <div
      role="status"
      className={names(
        "card pointer-events-none absolute top-0 z-10 min-w-44 p-3 text-sm shadow-pop",
        isRight ? "-translate-x-[calc(100%+16px)]" : "translate-x-4"
      )}
      style={{ left: left + (day + 0.5) * ((width - left) / days.length) }}
    >
      <p className="mb-1.5 font-medium">{dayName(days[day] ?? "")}</p>
      {series.map(({ name, values }, index) => (
        <p key={name} className="flex items-center gap-2 text-muted">
          <span className="size-2 rounded-[2px]" style={{ background: color(index) }} />
          {name}
          <span className="ml-auto pl-4 font-medium text-ink tabular-nums">{count(values[day] ?? 0)}</span>
        </p>
      ))}
      <p className="mt-1.5 flex justify-between border-t border-line pt-1.5 font-medium">
        <span>Total</span>
        <span className="tabular-nums">{count(totals[day] ?? 0)}</span>
      </p>
    </div>
  )
}
