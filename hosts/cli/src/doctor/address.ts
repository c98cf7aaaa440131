/** Addresses of services. */

/** Returns whether only this machine reaches the URL, so that there is no proxy before it. */
export const isLoopback = (url: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)
