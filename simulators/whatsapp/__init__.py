"""A WhatsApp Cloud API on loopback, with Meta's webhooks.

sim = WhatsAppSimulator()
await sim.start()                       # settings() says where, with which credentials
sim.attach("http://127.0.0.1:8081")     # your webhook listener
await sim.wait_connected()              # Meta's handshake succeeded
ada = sim.person("Ada")
await sim.say(ada, sim.direct(ada), "hello")
await sim.wait_for(sim.direct(ada), lambda shown: shown[-1].by_bot)
"""

from simulators.whatsapp.simulator import TEMPLATE, WhatsAppSimulator
from simulators.whatsapp.webhooks import UNSIGNED

__all__ = ["TEMPLATE", "UNSIGNED", "WhatsAppSimulator"]
