/** What is shown of the code, until the page is left. */
let shownSnippet = "HTML";

async function codePanel(signal) {
  const target = await address(state, signal);
  const image = await candidates(state, signal);
  const made = {
    HTML: htmlImage(image), Picture: await picture(image, signal), React: reactImage(image), "Next.js": nextImage(target),
    curl: `curl -o ${fileName()} -H 'Accept: image/webp' \\\n  '${target}'`,
    SwiftUI: swiftOverHTTP(target), "Swift in process": swiftInProcess(),
  };
  const snippets = Object.entries(made).map(([title, code]) => snippet(title, code));
  const show = (title) => {
    shownSnippet = title;
    snippets.forEach((card, at) => { card.hidden = Object.keys(made)[at] !== title; });
  };
  const choices = Object.keys(made).map((title) => {
    const radio = el("input", { type: "radio", name: "snippet", value: title, checked: title === shownSnippet });
    radio.addEventListener("change", () => show(title));
    return el("label", {}, radio, title);
  });
  show(shownSnippet);
  return [el("fieldset", { className: "segments tools small" }, el("legend", { className: "unseen" }, "Language"), choices), ...snippets];
}

function snippet(title, code) {
  const copy = el("button", { className: "quiet", type: "button", ariaLabel: `Copy ${title}` }, "Copy");
  copy.addEventListener("click", async () => {
    await copyText(code);
    copy.textContent = "Copied";
    say(`${title} copied`);
    setTimeout(() => { copy.textContent = "Copy"; }, 1500);
  });
  return el("div", { className: "snippet" }, el("div", { className: "row spread" }, el("h3", {}, title), copy), el("pre", {}, el("code", {}, code)));
}

async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // The clipboard API is not available over plain HTTP.
  const area = el("textarea", { value: text, className: "unseen" });
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
  return undefined;
}

/** The public URL of an image. With the token it comes from the server, because only the server can sign it. */
async function address(values, signal) {
  if (!token.read()) return `${location.origin}${BASE}/image?${query(values)}`;
  const data = await askJSON(`/explain?${query(values)}`, { signal });
  return new URL(data.request.address, location.origin).href;
}

/** The CSS pixels that the result fills: the size of the image itself, whatever box was asked for. */
function resultSize() {
  const { image } = shown.result;
  const ratio = Number(state.dpr || 1);
  return image ? { width: Math.round(image.naturalWidth / ratio), height: Math.round(image.naturalHeight / ratio) } : null;
}

/** URLs of the image for several screens: in widths, or in pixel densities where both sides are given. */
async function candidates(values, signal) {
  const hasBothSides = values.h || values.ar;
  if (hasBothSides) {
    const at = async (dpr) => {
      const dense = { ...values, dpr: dpr === 1 ? "" : String(dpr) };
      await askJSON(`/explain?${query(dense)}`, { signal });
      return address(dense, signal);
    };
    const [src, dense] = [await at(1), await unlessRefused(() => at(2))];
    return { src, srcset: [`${src} 1x`, ...(dense ? [`${dense} 2x`] : [])], sizes: "" };
  }
  const width = resultSize()?.width;
  const widths = width ? `widths=${ladder(width).join(",")}&` : "";
  const sizes = width ? `(max-width: ${width}px) 100vw, ${width}px` : "100vw";
  const data = await askJSON(`/srcset?${query({ ...values, w: "", dpr: "" })}&${widths}sizes=${encodeURIComponent(sizes)}`, { signal });
  const absolute = (url) => new URL(url, location.origin).href;
  return { src: absolute(data.src), srcset: data.candidates.map(({ url, width }) => `${absolute(url)} ${width}w`), sizes };
}

/** The result of `work`, or null if the server would refuse the image: a browser would show nothing. */
async function unlessRefused(work) {
  try {
    return await work();
  } catch (error) {
    if (error.status === 400 || error.status === 413) return null;
    throw error;
  }
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

/** Attributes, one per line, without those that have no value. */
function attributes(pairs, indent) {
  return pairs.filter(([, value]) => value).map(([name, value]) => `${name}=${value}`).join(`\n${indent}`);
}

function htmlImage({ src, srcset, sizes }, indent = "     ") {
  const size = resultSize();
  const quote = (text) => text && `"${escaped(text)}"`;
  return `<img ${attributes([
    ["src", quote(src)], ["srcset", quote(srcset.join(", "))], ["sizes", quote(sizes)],
    ["width", size && quote(String(size.width))], ["height", size && quote(String(size.height))], ["alt", '""'],
  ], indent)}>`;
}

/** The browser takes the first format that it knows. */
async function picture(image, signal) {
  const sources = [];
  for (const output of ["avif", "jxl", "webp"].filter(writes)) {
    const found = await unlessRefused(() => candidates({ ...state, output }, signal));
    if (!found) continue;
    const { srcset, sizes } = found;
    sources.push(`  <source type="image/${output}" srcset="${escaped(srcset.join(", "))}"${sizes ? ` sizes="${sizes}"` : ""}>`);
  }
  const fallback = await candidates({ ...state, output: shown.info?.has_alpha ? "png" : "jpg" }, signal);
  return `<picture>\n${sources.join("\n")}\n  ${htmlImage(fallback, "       ")}\n</picture>`;
}

function reactImage({ src, srcset, sizes }) {
  const size = resultSize();
  return `export function Photo() {
  return (
    <img
      ${attributes([
    ["src", quoted(src)], ["srcSet", quoted(srcset.join(", "))], ["sizes", sizes && quoted(sizes)],
    ["width", size && `{${size.width}}`], ["height", size && `{${size.height}}`], ["alt", '""'], ["loading", '"lazy"'],
  ], "      ")}
    />
  );
}`;
}

/** A loader, so that the image service makes the sizes that Next.js asks for. */
function nextImage(target) {
  const size = resultSize() ?? { width: 640, height: 427 };
  const element = (rest) => `<Image ${rest} width={${size.width}} height={${size.height}} alt="" />`;
  if (token.read()) return `import Image from "next/image";

// Only this server can sign URLs, so Next.js takes this one as it is.
export function Photo() {
  return ${element(`unoptimized src=${quoted(target)}`)};
}`;
  const rest = query(state, ["url", "w", "h", "dpr", "q"]);
  const height = state.h ? `&h=\${Math.round(width * ${pixels(state.h, sourceSize().height)} / ${pixels(state.w, sourceSize().width)})}` : "";
  return `import Image from "next/image";

const loader = ({ src, width, quality }) =>
  \`${location.origin}${BASE}/image?url=\${encodeURIComponent(src)}&w=\${width}${height}${rest && `&${rest}`}\`
  + (quality ? \`&q=\${quality}\` : "");

export function Photo() {
  return ${element(`loader={loader} src=${quoted(state.url)}`)};
}`;
}

/** Widths from half to three times the width, none larger than the source. */
function ladder(width) {
  const most = Math.max(width, readCrop()?.width ?? sourceSize().width);
  const widths = [0.5, 1, 1.5, 2, 3].map((factor) => Math.round(width * factor)).filter((width) => width >= 1 && width <= most);
  return [...new Set(widths)];
}

const fileName = () => `image.${shown.result.type.replace("image/", "").replace("jpeg", "jpg")}`;
const quoted = (text) => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
