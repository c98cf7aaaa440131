/** The changelog of the repository, and the part of it that concerns one package. */

/**
 * Returns the changelog of a package: the releases of the repository's changelog with the entries that name the package,
 * in order. Links to files of the repository become plain text, since a tarball does not have these files.
 */
export const ofPackage = (changelog: string, name: string): string => {
  const releases = changelog.split(/^(?=## )/m).slice(1).map((release) => ofRelease(release, name))
  return [
    `# Changelog of ${name}`,
    "All packages of Kinora have the same version. A version that is not listed changed nothing in this package.",
    ...releases.filter((release) => release !== undefined)
  ].join("\n\n") + "\n"
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const ofRelease = (release: string, name: string): string | undefined => {
  const [head = "", ...parts] = release.split(/^(?=### )/m)
  const [title = ""] = head.split("\n")
  const kept = parts.map((part) => {
    const [heading = "", ...entries] = part.trim().split(/\n+(?=### |- )/)
    return { heading, entries: entries.filter((entry) => names(entry, name)).map(withoutFiles) }
  }).filter(({ entries }) => entries.length > 0)
  if (kept.length === 0) return undefined
  return [title, ...kept.map(({ entries, heading }) => `${heading}\n\n${entries.join("\n")}`)].join("\n\n")
}

/** Whether the entry names the package or one of its modules, and not only one whose name contains this name. */
const names = (entry: string, name: string): boolean => new RegExp(`(?<![\\w@/-])${name}(?![\\w-]|\\.\\w)`).test(entry)

const withoutFiles = (entry: string): string => entry.replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, "$1")
