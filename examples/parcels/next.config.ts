import type { NextConfig } from "next"

const config: NextConfig = {
  // `npm run check` finds the errors of types.
  typescript: { ignoreBuildErrors: true }
}

export default config
