"""Further formats of keys, held against public rules of secret scanners; read by `keys.py`."""

from typing import Final

MORE: Final = """
kimi sk-kimi- a64
unkey unkey_ a22
cursor key_ h64
runpod rpa_ u45
modal as- a22
composio ak_ k20
mem0 m0- a40
cartesia sk_car_ a22
novita sk_ k43
brave BSA k27
databento db- a29
descope K2 a66
browserbase bb_live_ k27
apify apify_api_ a36
wandb wandb_v1_ a27 _ a49
zhipu h32 . a16
helicone sk-helicone- l7 - l7 - l7 - l7
azure_search a42 AzSe a6
azure_gateway a32 AzCa a8
azure_function k44 AzFu k5 A==
azure_cosmos b76 ACDb b6 ==
azure_registry b42 +ACR a6
azure_bus b33 +ASb b6 =
azure_events b33 +AEh b6 =
azure_devices b33 AIoT b6 =
aws_session IQoJb3JpZ2luX2Vj b220
aiven AVNS_ k19
volcengine AKLT b44
upcloud ucat_ u26
neon_role npg_ a12
xata xau_ a32
cockroach CCDB1_ a22 _ a40
confluent cflt b60
elastic essu_ b72
astra AstraCS: a24 : h64
swarm SWMTKN-1- l50 - l25
deno ddp_ a36
valtown vtwn_ a32
zuplo zpka_ l32 _ h8
nebula dnkey- u26 - u52
ngrok 2 a26 _ a21
infisical st. h24 . h32 . h32
bitwarden 0. h8 - h4 - h4 - h4 - h12 . a30 : b22 ==
packagist packagist_uut_ h68
buildkite bkct_ a45
snyk snyk_sat. l8 . k100 . k86
dbt dbtu_ k40
infracost ico- a32
aikido AIK_CI_ a64
mergify mka_ a50
inngest signkey-prod- h64
trigger tr_prod_ a24
harness pat. k22 . h24 . a20
circleci CCIPRJ_ a22 _ h40
mollie live_ a30
gocardless live_ k40
lob live_ h35
polar polar_oat_ a43
xendit xnd_production_ a50
midtrans Mid-server- k24
asaas $aact_prod_ a100
amazon amzn.mws. h8 - h4 - h4 - h4 - h12
zoho 1000. h32 . h32
firebase k11 :APA91b k134
mandrill md- k22
mailersend mlsn. h64
klaviyo pk_ h34
clickup pk_ d8 _ u32
onesignal os_v2_app_ l103
instagram IGQ a160
threads THA a160
facebook_app d15 | k27
twitter AAAAAAAAAAAAAAAAAAAAA a90
linkedin WPL_AP1. a16 . b6 ==
telnyx KEY01 u30 _ a22
stytch secret-live- k35 =
jumpcloud jca_ a36
adobe p8e- k32
trello ATTA h64 u8
calcom cal_live_ h32
sanity sk a178
configcat configcat-sdk-1/ k22 / k22
statsig secret- a43
devcycle dvc_server_ k50 _ h6
maxmind a6 _ a29 _mmk
wakatime waka_ h8 - h4 - h4 - h4 - h12
frameio fio-u- k64
datadog ddpat_ a22 _ a32
dynatrace_platform dt0s16. 28 . 264
axiom xaat- h8 - h4 - h4 - h4 - h12
rootly rootly_ h64
newrelic_ingest h36 FFFFNRAL
salesforce 00D a12 !AR a94
salesforce_refresh 5Aep861 a78
yandex_iam t1. k140 . k86
ably k6 . k6 : k43
deepl h8 - h4 - h4 - h4 - h12 :fx
rapidapi h10 msh h15 p1 h5 jsn h12
convex prod:tame-otter-123 | b76
incident inc_live_ a40
ramp ramp_sec_ a48
unheard_of zorble_ a40
unheard_of_too acme_live_ a32
zapier https://hooks.zapier.com/hooks/catch/ d7 / l7
make https://hook.eu1.make.com/ l32
lark https://open.larksuite.com/open-apis/bot/v2/hook/ h8 - h4 - h4 - h4 - h12
dingtalk https://oapi.dingtalk.com/robot/send?access_token= h64
wecom https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key= h8 - h4 - h4 - h4 - h12
"""
