// A browser that was started without a locale may call its language what Intl refuses, such as
// "en-US@posix"; uPlot asks for it as soon as it is there.
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, "language", { value: "en-US" });
}
