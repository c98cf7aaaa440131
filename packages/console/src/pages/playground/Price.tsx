/** The price of the request, before it is sent. */
import type { Account, Model, Plan } from "../../api/types.ts"
import { names } from "../../components/names.ts"
import { count, plural } from "../../format/number.ts"

/** The price and what is left after it. The service decides whether it suffices, so nothing is blocked here. */
export const Price = ({ account, kind, plan, price }: {
  readonly account: Account | undefined
  readonly plan: Plan
  readonly kind: Model["kind"]
  readonly price: number | undefined
}) => {
  const { isShort, text } = plan === "studio"
    ? quotaLeft(account?.plans.studio.quota?.[kind].remaining)
    : creditsLeft(account?.plans.credits.credits_remaining, price)
  return (
    <div className="flex items-baseline justify-between gap-3" aria-live="polite">
      <span className="text-base font-medium tabular-nums">
        {plan === "studio" ? `1 Studio ${kind}` : price === undefined ? "No price" : plural(price, "credit")}
      </span>
      <span className={names("text-xs tabular-nums", isShort ? "font-medium text-danger" : "text-muted")}>{text}</span>
    </div>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const quotaLeft = (remaining: number | undefined) => ({
  isShort: remaining === 0,
  text: remaining === undefined
    ? ""
    : remaining === 0
    ? "Quota used up until 00:00 UTC"
    : `${count(remaining)} left today`
})

const creditsLeft = (credits: number | undefined, price: number | undefined) => {
  if (credits === undefined || price === undefined) return { isShort: false, text: "" }
  return credits < price
    ? { isShort: true, text: `Only ${count(credits)} left` }
    : { isShort: false, text: `${count(credits - price)} left after` }
}
