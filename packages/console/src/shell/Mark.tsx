/** The mark of the product. */
import { names } from "../components/names.ts"

/** The mark, in the colors of the theme. */
export const Mark = ({ className }: { readonly className?: string }) => (
  <svg viewBox="0 0 32 32" className={names("size-7", className)} aria-hidden="true">
    <rect width="32" height="32" rx="8" className="fill-ink" />
    <path
      d="M10.5 8v16M22 8 11.3 16 22 24"
      className="stroke-surface"
      fill="none"
      strokeWidth="3.2"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
  </svg>
)
