const { createHmac } = require("node:crypto");
const encode = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

function sign(keyID, secret, path, parameters) {
  const names = Object.keys(parameters).sort();
  const query = names.map((name) => `${encode(name)}=${encode(parameters[name])}`).join("&");
  const code = createHmac("sha256", secret).update(`darkroom 1\n${path}\n${query}`).digest("base64url");
  return `${path}?${query}&s=${keyID}.${code}`;
}
module.exports = { sign };
