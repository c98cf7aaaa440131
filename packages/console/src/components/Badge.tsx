/** Badges, meters and notices. */
import type { ReactNode } from "react"
import { names } from "./names.ts"

const tones = {
  neutral: "bg-raised text-muted",
  accent: "bg-accent-soft text-accent",
  positive: "bg-positive-soft text-positive",
  warning: "bg-warning-soft text-warning",
  danger: "bg-danger-soft text-danger"
} as const

/** The meaning of a color. Colors never carry a meaning without text. */
export type Tone = keyof typeof tones

/** A short status. */
export const Badge = ({ children, tone = "neutral" }: { readonly children: ReactNode; readonly tone?: Tone }) => (
  <span
    className={names(
      "inline-flex h-5 shrink-0 items-center gap-1.5 rounded-full px-2 text-xs font-medium whitespace-nowrap",
      tones[tone]
    )}
  >
    {children}
  </span>
)

/** The part of a maximum that is used. */
export const Meter = ({ label, max, value }: {
  readonly label: string
  readonly value: number
  readonly max: number
}) => (
  <div
    role="meter"
    aria-label={label}
    aria-valuenow={value}
    aria-valuemin={0}
    aria-valuemax={max}
    className="h-1.5 overflow-hidden rounded-full bg-line"
  >
    <div
      className={names(
        "h-full rounded-full",
        value >= max ? "bg-danger" : value / max > 0.8 ? "bg-warning" : "bg-accent"
      )}
      style={{ width: `${max === 0 ? 0 : Math.min(100, value / max * 100)}%` }}
    />
  </div>
)

/** A message about the page. Errors and warnings are announced at once. */
export const Notice = ({ action, children, title, tone = "danger" }: {
  readonly title: string
  readonly tone?: "danger" | "warning" | "accent" | "positive"
  readonly children?: ReactNode
  readonly action?: ReactNode
}) => (
  <div
    role={tone === "danger" || tone === "warning" ? "alert" : "status"}
    className={names("flex flex-wrap items-start justify-between gap-3 rounded-lg px-3.5 py-3 text-sm", tones[tone])}
  >
    <div className="min-w-0">
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="mt-0.5 break-words text-ink">{children}</div>}
    </div>
    {action}
  </div>
)
