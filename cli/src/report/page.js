'use strict';
(async () => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const $ = (id) => document.getElementById(id);
  const { width, height } = data;
  const TOPOLOGIES = {
    1: 'POINTLIST', 2: 'LINELIST', 3: 'LINESTRIP', 4: 'TRILIST', 5: 'TRISTRIP', 6: 'TRIFAN', 7: 'QUADLIST', 8: 'QUADSTRIP',
    9: 'LINELIST_ADJ', 10: 'LINESTRIP_ADJ', 11: 'TRILIST_ADJ', 12: 'TRISTRIP_ADJ', 13: 'TRISTRIP_REVERSE', 14: 'POLYGON',
    15: 'RECTLIST', 16: 'LINELOOP', 17: 'POINTLIST_BF', 18: 'LINESTRIP_CONT', 19: 'LINESTRIP_BF', 20: 'LINESTRIP_CONT_BF',
    22: 'TRIFAN_NOSTIPPLE',
  };
  const hex = (n) => '0x' + n.toString(16).padStart(8, '0');
  const number = (v) => (Number.isInteger(v) ? String(v) : String(Number(v.toPrecision(7))));
  const topology = (code) => TOPOLOGIES[code] || (code >= 32 && code < 64 ? `PATCHLIST_${code - 31}` : String(code));

  // Elements are built, never parsed: names out of a capture stay text.
  const el = (name, attributes, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key === 'onclick') node.addEventListener('click', value);
      else if (value !== null && value !== undefined) node.setAttribute(key, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };
  const svg = (name, attributes) => {
    const node = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };

  // Threads in the order of their dispatch: eight dwords each, or thirteen where some have more than 16 pixels.
  const stride = data.wide ? 13 : 8;
  const subspans = data.wide ? 8 : 4;
  const bytes = Uint8Array.from(atob(data.threads), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  const words = new Uint32Array(await new Response(stream).arrayBuffer());
  const count = words.length / stride;
  const lit = (at) => (words[at + 3] & 0xffff | (data.wide ? words[at + 8] << 16 : 0)) >>> 0;
  const thread = (n) => {
    const at = n * stride;
    const place = words[at + 3];
    return {
      ordinal: words[at], object: words[at + 1], kernel: words[at + 2],
      mask: lit(at), eu: place >>> 16 & 255, slot: place >>> 24,
    };
  };

  // Which threads a block of 2x2 pixels has: a list for each, one behind the other.
  const across = width + 1 >> 1;
  const down = height + 1 >> 1;
  const starts = new Uint32Array(across * down + 1);
  const blocks = (visit) => {
    for (let n = 0; n < count; n++) {
      const mask = lit(n * stride);
      for (let s = 0; s < subspans; s++) {
        if (!(mask >>> s * 4 & 15)) continue;
        const place = words[n * stride + 4 + s + (s > 3)];
        const x = (place & 0xffff) >> 1;
        const y = place >>> 17;
        if (x < across && y < down) visit(y * across + x, n, s);
      }
    }
  };
  blocks((block) => { starts[block + 1]++; });
  for (let b = 0; b < across * down; b++) starts[b + 1] += starts[b];
  const entries = new Uint32Array(starts[across * down]);
  const next = starts.slice();
  blocks((block, n, s) => { entries[next[block]++] = n * subspans + s; });
  const at = (x, y) => {
    const block = (y >> 1) * across + (x >> 1);
    const found = [];
    for (let i = starts[block]; i < starts[block + 1]; i++) {
      const n = Math.floor(entries[i] / subspans);
      const channel = entries[i] % subspans * 4 + (y & 1) * 2 + (x & 1);
      const one = thread(n);
      if (one.mask >>> channel & 1) found.push({ ...one, channel });
    }
    return found;
  };
  const object = (n) => {
    const [ordinal, draw, code, setup, kernel, vertices, corners] = data.objects[n];
    return { ordinal, draw, code, setup, kernel, vertices, corners };
  };

  // The picture.
  const canvas = $('picture');
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  const image = new Image();
  image.src = data.picture;
  await image.decode();
  const row = (y) => (data.flip ? height - 1 - y : y);
  const source = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  source.drawImage(image, 0, 0);
  const pixels = source.getImageData(0, 0, width, height);
  const colour = (x, y) => [...pixels.data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4)];
  const overlay = $('overlay');
  overlay.setAttribute('viewBox', `0 0 ${width} ${height}`);

  // Pixels that a draw call lit stay, the others step back.
  let call = null;
  const paint = () => {
    const shown = context.createImageData(width, height);
    const lit = new Uint8Array(width * height);
    if (call !== null) {
      blocks((block, n, s) => {
        if (data.objects[words[n * stride + 1]][1] !== call) return;
        const x = block % across * 2;
        const y = Math.floor(block / across) * 2;
        for (let p = 0; p < 4; p++) {
          if (lit(n * stride) >>> s * 4 + p & 1 && x + (p & 1) < width) lit[(y + (p >> 1)) * width + x + (p & 1)] = 1;
        }
      });
    }
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const from = (y * width + x) * 4;
        const to = (row(y) * width + x) * 4;
        const dim = call !== null && !lit[y * width + x];
        for (let c = 0; c < 3; c++) shown.data[to + c] = dim ? pixels.data[from + c] / 4 + 24 : pixels.data[from + c];
        shown.data[to + 3] = dim ? 255 : pixels.data[from + 3];
      }
    }
    context.putImageData(shown, 0, 0);
  };
  paint();

  // Draw calls.
  const threadsOf = new Map();
  for (let n = 0; n < count; n++) {
    const draw = data.objects[words[n * stride + 1]][1];
    threadsOf.set(draw, (threadsOf.get(draw) || 0) + 1);
  }
  const calls = [...threadsOf.keys()].sort((a, b) => a - b);
  const items = new Map();
  const choose = (draw) => {
    call = draw;
    paint();
    items.forEach((item, key) => item.setAttribute('aria-current', key === draw));
    $('slider').value = draw === null ? 0 : calls.indexOf(draw) + 1;
    $('shown').textContent = draw === null ? 'All draw calls' : `Pixels of draw call ${draw}`;
  };
  const title = (draw) => {
    const command = data.draws[draw].primitive;
    return `${draw}: ${topology(command.topology)}, ${command.count} vertices`;
  };
  for (const draw of calls) {
    const label = `${title(draw)}, ${threadsOf.get(draw)} pixel shader threads`;
    const item = el('li', {}, el('button', { type: 'button', onclick: () => choose(call === draw ? null : draw) }, label));
    items.set(draw, item);
    $('list').append(item);
  }
  $('slider').max = calls.length;
  $('slider').addEventListener('input', (event) => {
    const n = Number(event.target.value);
    choose(n === 0 ? null : calls[n - 1]);
  });
  choose(null);

  // Header.
  $('title').textContent = `${data.capture} on ${data.device}`;
  document.title = data.capture;
  $('facts').textContent = `${width}×${height} pixels, ${data.draws.length} draw calls${calls.length === data.draws.length ? '' : ` (${calls.length} with pixels)`}, ${data.objects.length} objects with pixels, ${count} pixel shader threads`
    + (data.leftOut ? ` (${data.leftOut} earlier ones left out)` : '');
  if (data.trouble) {
    $('trouble').hidden = false;
    $('trouble').textContent = data.trouble;
  }

  // Stages of the pipeline, over the whole frame.
  const stageRows = data.stages.map(([name, threads, counts]) => el('tr', { 'data-stage': name },
    el('td', {}, name), ...(threads || [null, null]).slice(0, 2).map((n) => el('td', {}, n === null ? '' : String(n))),
    el('td', {}, counts.map(([what, n]) => `${n} ${what}`).join(', '))));
  $('stages').append(el('div', { class: 'scroll' }, el('table', {},
    el('tr', {}, ...['stage', 'threads', 'instructions', 'counted'].map((h) => el('th', {}, h))), ...stageRows)));

  // What is shown of a pixel.
  const facts = (pairs) => el('dl', {}, ...pairs.filter((pair) => pair[1] !== null && pair[1] !== undefined)
    .flatMap(([name, value, id]) => [el('dt', {}, name), el('dd', id ? { id } : {}, String(value))]));
  // A vertex is fetched, put out by a thread of GS or clipper, or made by DS of a point of a patch.
  const isFetched = (vertex) => vertex[1] !== null;
  const isPoint = (vertex) => !isFetched(vertex) && vertex[2] === null;
  const behind = (vertex) => {
    if (isPoint(vertex)) return data.patches[vertex[3]][3];
    const between = data.between[vertex[2]];
    const part = between[5][vertex[4]];
    return part ? part[2] : between[4];
  };
  const fetched = (id) => {
    const vertex = data.vertices[id];
    return isFetched(vertex) ? [id] : [...new Set(behind(vertex).flatMap(fetched))];
  };
  // All vertices on the way from an object's up to those that were fetched.
  const upward = (ids) => [...new Set(ids.flatMap((id) => {
    const vertex = data.vertices[id];
    return isFetched(vertex) ? [id] : [id, ...upward(behind(vertex))];
  }))];
  const vertexTable = (ids, places) => {
    const head = ['vertex', 'URB entry', 'from', 'screen x, y, z'];
    const rows = ids.map((id, n) => {
      const vertex = data.vertices[id];
      const place = places && places[n] ? places[n].map(number).join(', ') : '';
      if (isPoint(vertex)) {
        const [handle, , , patch, point, at, shader] = vertex;
        return el('tr', { 'data-vertex': id, 'data-point': point }, el('td', {}, `point ${point} at ${at.map(number).join(', ')}`),
          el('td', {}, String(handle)), el('td', {}, `DS thread ${shader}, patch ${patch}`), el('td', {}, place));
      }
      if (!isFetched(vertex)) {
        const between = data.between[vertex[2]];
        const part = between[5][vertex[4]];
        return el('tr', { 'data-vertex': id }, el('td', {}, `output ${vertex[3]}`), el('td', {}, String(vertex[0])),
          el('td', {}, `${between[0]} thread ${between[1]}` + (part ? `, object ${part[0]}, instance ${part[1]}` : '')), el('td', {}, place));
      }
      const [handle, , index, instance, , shader] = vertex;
      return el('tr', { 'data-vertex': id, 'data-index': index, 'data-shader': shader },
        el('td', {}, `index ${index}` + (instance ? `, instance ${instance}` : '')), el('td', {}, String(handle)),
        el('td', {}, shader === null ? 'VF' : `VS thread ${shader}`), el('td', {}, place));
    });
    return el('div', { class: 'scroll' }, el('table', {}, el('tr', {}, ...head.map((h) => el('th', {}, h))), ...rows));
  };
  const inputTable = (ids) => {
    const head = ['vertex', 'element', 'buffer', 'address', 'format', 'value'];
    const rows = ids.flatMap((id) => data.vertices[id][6].map(([element, buffer, address, format, value]) =>
      el('tr', { 'data-input': hex(address) }, el('td', {}, `index ${data.vertices[id][2]}`), el('td', {}, String(element)),
        el('td', {}, String(buffer)), el('td', { class: 'mono' }, hex(address)), el('td', {}, format),
        el('td', {}, value ? value.map((v) => (v === null ? 'not a number' : number(v))).join(', ') : 'outside of every buffer'))));
    if (!rows.length) return el('p', { class: 'empty' }, 'Nothing comes from memory.');
    return el('div', { class: 'scroll' }, el('table', {}, el('tr', {}, ...head.map((h) => el('th', {}, h))), ...rows));
  };
  const kernel = (draw, unit, pointer, open) => {
    const lines = pointer === null ? null : data.kernels[`${data.draws[draw].exec}:${pointer}`];
    if (!lines) return null;
    const node = el('details', { 'data-kernel': unit }, el('summary', {}, `${unit} kernel at ${hex(pointer)}`), el('pre', {}, lines.join('\n')));
    node.open = open;
    return node;
  };
  const show = (one) => {
    const of = object(one.object);
    const draw = data.draws[of.draw];
    const vertices = of.vertices;
    const way = upward(vertices).map((id) => data.vertices[id]);
    const betweens = [...new Set(vertices.map((id) => data.vertices[id]).filter((v) => !isFetched(v) && !isPoint(v)).map((v) => v[2]))];
    const points = upward(vertices).filter((id) => isPoint(data.vertices[id]));
    const patches = [...new Set(points.map((id) => data.vertices[id][3]))];
    const emitters = [];
    const say = (text) => { if (!emitters.includes(text)) emitters.push(text); };
    const climb = (id) => {
      const vertex = data.vertices[id];
      if (isFetched(vertex)) return;
      if (isPoint(vertex)) {
        say(`point ${vertex[4]} of patch ${vertex[3]}, DS thread ${vertex[6]}`);
        say(`patch ${vertex[3]}, HS thread ${data.patches[vertex[3]][1].join(' ')}`);
      } else {
        say(`${data.between[vertex[2]][0]} thread ${data.between[vertex[2]][1]}`);
      }
      behind(vertex).forEach(climb);
    };
    vertices.forEach(climb);
    const domainKernels = [...new Set(way.filter(isPoint).map((v) => v[7]))];
    const inputs = [...new Set(vertices.flatMap(fetched))];
    const w = draw.primitive;
    drawObject(of);
    return [
      el('div', { class: 'card' }, el('h2', {}, `PS thread ${one.ordinal}`), facts([
        ['Ran on', `EU ${one.eu}, thread ${one.slot}`],
        ['Kernel', hex(one.kernel)],
        ['Lit pixels', `0x${one.mask.toString(16).padStart(4, '0')}, this one is bit ${one.channel}`],
        ['Object', `${of.ordinal} of SF, ${topology(of.code)}`, 'object'],
        ['Setup', of.setup === null ? 'by SF itself, without a thread' : `SF thread ${of.setup}, kernel ${hex(of.kernel)}`, 'setup'],
        ...betweens.map((id) => {
          const [unit, ordinal, start, code] = data.between[id];
          return [unit === 'GS' ? 'Geometry' : 'Clipped', `${unit} thread ${ordinal}, kernel ${hex(start)}, of a ${topology(code)}`];
        }),
        ['Draw call', `${of.draw}, number ${draw.number} of ${draw.name || `submission ${draw.exec}`}, 3DPRIMITIVE at ${hex(draw.address)}`, 'draw'],
      ])),
      el('div', { class: 'card', id: 'vertices' }, el('h2', {}, 'Vertices'), vertexTable(vertices, of.corners),
        emitters.length ? el('h3', {}, 'Made by') : null,
        emitters.length ? el('ul', { id: 'emitters' }, ...emitters.map((text) => el('li', {}, text))) : null,
        betweens.length && points.length ? el('div', { id: 'points' }, el('h3', {}, 'Points of patches'), vertexTable(points)) : null,
        ...patches.map((id) => {
          const [ordinal, threads, start, , factors, count, objects] = data.patches[id];
          return el('div', { class: 'patch', 'data-patch': id }, el('h3', {}, `Patch ${id}`), facts([
            ['Number in its draw', ordinal],
            ['HS threads', `${threads.join(', ')}, kernel ${hex(start)}`],
            ['Outside factors', factors ? factors.slice(0, 4).map((v) => (v === null ? 'not a number' : number(v))).join(', ') : null],
            ['Inside factors', factors ? factors.slice(4).map((v) => (v === null ? 'not a number' : number(v))).join(', ') : null],
            ['Cut into', `${count} points, ${objects} objects`],
          ]));
        }),
        betweens.length || patches.length ? el('div', { id: 'sources' }, el('h3', {}, 'From'), vertexTable(inputs)) : null,
        el('h3', {}, 'Inputs'), inputTable(inputs)),
      el('div', { class: 'card', id: 'kernels' }, el('h2', {}, 'Kernels'),
        kernel(of.draw, 'PS', one.kernel, true), kernel(of.draw, 'SF', of.kernel, false),
        ...betweens.map((id) => kernel(of.draw, data.between[id][0], data.between[id][2], false)),
        ...domainKernels.map((start) => kernel(of.draw, 'DS', start, false)),
        ...[...new Set(patches.map((id) => data.patches[id][2]))].map((start) => kernel(of.draw, 'HS', start, false)),
        kernel(of.draw, 'VS', draw.kernels.VS, false)),
      el('div', { class: 'card', id: 'state' }, el('h2', {}, 'Draw call'), facts([
        ['Topology', topology(w.topology)],
        ['Access', w.random ? 'random, through the index buffer' : 'sequential'],
        ['Vertices', w.indirect ? 'from registers' : `${w.count} from ${w.start}`],
        ['Instances', w.indirect ? 'from registers' : `${w.instances} from ${w.firstInstance}`],
        ['Base vertex', w.baseVertex],
      ]), el('h3', {}, 'Commands in force and the state that they point at'),
      ...draw.state.map((n) => el('details', { 'data-state': data.sections[n][0] }, el('summary', {}, data.sections[n][0]), el('pre', {}, data.sections[n][1])))),
    ];
  };

  let now = null;
  const place = ([x, y]) => {
    const [left, top] = data.origin;
    return [x + left, data.flip ? height - (y + top) : y + top];
  };
  const drawPixel = () => {
    overlay.replaceChildren();
    if (!now) return;
    const [x, y] = [now[0], row(now[1])];
    // A frame around it that can be seen at any scale.
    const pad = Math.max(1, width / 160);
    for (const name of ['pixel', 'pixel inner']) {
      overlay.append(svg('rect', { class: name, x: x - pad, y: y - pad, width: 1 + 2 * pad, height: 1 + 2 * pad }));
    }
  };
  const drawObject = (of) => {
    drawPixel();
    const corners = of.corners.map(place);
    const shape = corners.slice();
    // Of a rectangle the fourth corner is left to the reader.
    if (of.code === 15 && shape.length === 3) {
      shape.push([0, 1].map((axis) => shape[0][axis] + shape[2][axis] - shape[1][axis]));
    }
    const points = shape.map((corner) => corner.join(',')).join(' ');
    overlay.prepend(svg('polygon', { class: 'triangle', points }), svg('polygon', { class: 'edge', points }));
    for (const [cx, cy] of corners) overlay.append(svg('circle', { cx, cy, r: width / 110 }));
  };
  const select = (x, y) => {
    now = [x, y];
    drawPixel();
    const threads = at(x, y);
    const rgba = colour(x, y);
    const swatch = el('span', { class: 'swatch' });
    swatch.style.background = `rgba(${rgba.slice(0, 3).join(',')},${rgba[3] / 255})`;
    const list = el('ol', { id: 'threads' });
    const body = el('div', { id: 'walk' });
    const pick = (n) => {
      [...list.children].forEach((item, m) => item.setAttribute('aria-current', m === n));
      body.replaceChildren(...show(threads[n]));
    };
    threads.forEach((one, n) => {
      const of = object(one.object);
      const label = `${n + 1}. PS thread ${one.ordinal}: object ${of.ordinal}, draw call ${of.draw}`;
      list.append(el('li', { 'data-ordinal': one.ordinal, 'data-object': of.ordinal, 'data-draw': of.draw, 'data-setup': of.setup },
        el('button', { type: 'button', onclick: () => pick(n) }, label)));
    });
    $('right').replaceChildren(
      el('div', { class: 'card', id: 'pixel', 'data-x': x, 'data-y': y },
        el('h2', {}, `Pixel ${x},${y}`, swatch, `rgba ${rgba.join(', ')}`),
        threads.length ? list : el('p', { class: 'empty' }, 'No pixel shader thread has had it.')),
      body);
    if (threads.length) pick(threads.length - 1);
  };
  const fromHash = () => {
    const match = /^#(\d+),(\d+)$/.exec(location.hash);
    if (!match) return;
    const [x, y] = [Number(match[1]), Number(match[2])];
    if (x < width && y < height) {
      if (!now || now[0] !== x || now[1] !== y) select(x, y);
    } else {
      now = null;
      drawPixel();
      $('right').replaceChildren(el('p', { class: 'empty' }, `Pixel ${x},${y} lies outside of the picture.`));
    }
  };
  const go = (x, y) => {
    const inside = (v, end) => Math.min(Math.max(v, 0), end - 1);
    [x, y] = [inside(x, width), inside(y, height)];
    history.replaceState(null, '', `#${x},${y}`);
    select(x, y);
  };
  $('frame').addEventListener('click', (event) => {
    const box = canvas.getBoundingClientRect();
    go(Math.floor((event.clientX - box.left) / box.width * width), row(Math.floor((event.clientY - box.top) / box.height * height)));
  });
  $('frame').addEventListener('keydown', (event) => {
    const step = event.shiftKey ? 8 : 1;
    const move = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
    if (!move) return;
    event.preventDefault();
    const [x, y] = now || [width >> 1, height >> 1];
    go(x + move[0], y + (data.flip ? -move[1] : move[1]));
  });
  window.addEventListener('hashchange', fromHash);
  fromHash();
  document.documentElement.dataset.ready = 'true';
})();
