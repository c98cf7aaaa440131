/** Browsers and systems. */

const browsers = [[/Edg\//, "Edge"], [/OPR\//, "Opera"], [/Firefox\//, "Firefox"], [/Chrome\//, "Chrome"], [
  /Safari\//,
  "Safari"
]] as const

const systems = [
  [/iPhone/, "iPhone"],
  [/iPad/, "iPad"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [
    /Mac OS X|Macintosh/,
    "macOS"
  ],
  [/CrOS/, "ChromeOS"],
  [/Linux/, "Linux"]
] as const

/** The browser and the system of a `User-Agent`, such as `Firefox on Linux`. Otherwise its beginning. */
export const deviceName = (userAgent: string | null): string => {
  if (userAgent === null || userAgent === "") return "Unknown device"
  const browser = browsers.find(([pattern]) => pattern.test(userAgent))?.[1]
  const system = systems.find(([pattern]) => pattern.test(userAgent))?.[1]
  if (browser === undefined) return userAgent.slice(0, 60)
  return system === undefined ? browser : `${browser} on ${system}`
}
