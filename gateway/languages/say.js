// The sentences of a page's scripts, in the language of the page. The element
// "sentences" of the page has the translations; a sentence without one is shown in English.
(() => {
  "use strict";
  const root = document.documentElement;
  const language = root.lang || "en";
  // The region of the browser's language decides about dates, where the page is in that language.
  const main = (tag) => tag.split("-")[0];
  const region = (navigator.languages || []).find((tag) => main(tag) === main(language));
  globalThis.page_locale = `${region || language}-u-nu-latn`;
  const number = new Intl.NumberFormat(`${language}-u-nu-latn`);
  function read() {
    const element = document.getElementById("sentences");
    return JSON.parse(element?.textContent || element?.content || "{}");
  }
  let known = null;

  function filled(pattern, holes) {
    return pattern.replace(/\{([a-z_]+)\}/g, (hole, name) => {
      const value = holes[name];
      if (typeof value === "number") return number.format(value);
      if (value === undefined) return hole;
      return root.dir === "rtl" ? `\u2068${value}\u2069` : String(value);
    });
  }

  // Returns a sentence with its holes filled.
  globalThis.say = (msgid, holes = {}) => {
    known ??= read();
    return filled(known.said?.[msgid] ?? msgid, holes);
  };

  // Returns the form of a sentence for the number in its hole "count".
  globalThis.say_count = (one, other, holes) => {
    known ??= read();
    const { count } = holes;
    const forms = known.counted?.[one];
    if (!forms) return filled(count === 1 ? one : other, holes);
    // Rules of plurals look at the last two digits, and at small numbers.
    const place = forms.places[count < 200 ? Math.floor(count) : 100 + Math.floor(count) % 100];
    return filled(forms.forms[place], holes);
  };
})();
